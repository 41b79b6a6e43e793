/* Generalised matrix product in double precision: C = alpha * A * B + beta * C. */

void gemm_double(int M, int U, int N, double alpha, double beta,
                 const double A[M][U], const double B[U][N], double C[M][N])
{
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      double acc = 0.0;
      for (int k = 0; k < U; k++)
        acc += A[i][k] * B[k][j];
      C[i][j] = alpha * acc + beta * C[i][j];
    }
}
