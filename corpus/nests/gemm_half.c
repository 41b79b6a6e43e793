/* Matrix product of halves: products and sums in float, rounded once in the end. */

void gemm_half(int M, int U, int N, const _Float16 A[M][U], const _Float16 B[U][N],
               _Float16 C[M][N])
{
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      float acc = 0.0f;
      for (int k = 0; k < U; k++)
        acc += A[i][k] * B[k][j];
      C[i][j] = acc;
    }
}
