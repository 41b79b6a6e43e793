/* C = A * transpose(B), B stored N x U. */

void mm_bt(int M, int U, int N, float A[M][U], float B[N][U], float C[M][N])
{
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      float acc = 0;
      for (int k = 0; k < U; k++)
        acc += A[i][k] * B[j][k];
      C[i][j] = acc;
    }
}
