/* Matrix product accumulated in the result itself. */

void mm_accumulate(int M, int U, int N, float A[M][U], float B[U][N], float C[M][N])
{
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      C[i][j] = 0;
      for (int k = 0; k < U; k++)
        C[i][j] += A[i][k] * B[k][j];
    }
}
