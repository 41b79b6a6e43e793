/* The sum of every row: neighbouring rows lie N elements apart. */

void row_sum(int M, int N, const float A[M][N], float s[M])
{
  for (int i = 0; i < M; i++) {
    float acc = 0;
    for (int j = 0; j < N; j++)
      acc += A[i][j];
    s[i] = acc;
  }
}
