/* Matrix product C = A * B, as listing 1 of the thesis writes it. */

void mm(int M, int U, int N, float A[M][U], float B[U][N], float C[M][N])
{
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      float acc = 0;
      for (int k = 0; k < U; k++)
        acc += A[i][k] * B[k][j];
      C[i][j] = acc;
    }
}
