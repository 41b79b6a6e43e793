/* A dense layer: C[i][j] = bias[j] + sum of A[i][k] * B[k][j], cut off below zero. */

void mm_bias(int M, int U, int N, float A[M][U], float B[U][N], float bias[N], float C[M][N])
{
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      float acc = bias[j];
      for (int k = 0; k < U; k++)
        acc += A[i][k] * B[k][j];
      C[i][j] = acc > 0 ? acc : 0;
    }
}
