/* C += A * B with the reduction in the middle, so that rows of B are read in order. */

void mm_ikj(int M, int U, int N, float A[M][U], float B[U][N], float C[M][N])
{
  for (int i = 0; i < M; i++)
    for (int k = 0; k < U; k++)
      for (int j = 0; j < N; j++)
        C[i][j] += A[i][k] * B[k][j];
}
