/* The greatest sum of a row's and a column's elements, the maximum found by an if. */
void max_if(int M, int U, int N, float A[M][U], float B[U][N], float C[M][N])
{
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      float best = -1e30f;
      for (int k = 0; k < U; k++)
        if (A[i][k] + B[k][j] > best)
          best = A[i][k] + B[k][j];
      C[i][j] = best;
    }
}
