/* P products: C[p] = A[p] * B[p]. */

void batched(int P, int M, int U, int N, float A[P][M][U], float B[P][U][N], float C[P][M][N])
{
  for (int p = 0; p < P; p++)
    for (int i = 0; i < M; i++)
      for (int j = 0; j < N; j++) {
        float acc = 0;
        for (int k = 0; k < U; k++)
          acc += A[p][i][k] * B[p][k][j];
        C[p][i][j] = acc;
      }
}
