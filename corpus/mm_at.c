/* C = transpose(A) * B, A stored U x M. */

void mm_at(int M, int U, int N, float A[U][M], float B[U][N], float C[M][N])
{
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      float acc = 0;
      for (int k = 0; k < U; k++)
        acc += A[k][i] * B[k][j];
      C[i][j] = acc;
    }
}
