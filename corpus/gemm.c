/* C = alpha * A * B + beta * C: code before and after the reduction. */

void gemm(int M, int U, int N, float alpha, float beta, float A[M][U], float B[U][N], float C[M][N])
{
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      float acc = 0;
      for (int k = 0; k < U; k++)
        acc += A[i][k] * B[k][j];
      C[i][j] = alpha * acc + beta * C[i][j];
    }
}
