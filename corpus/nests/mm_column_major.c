/* C = alpha * A * B + beta * C, the arrays stored by columns with leading dimensions. */

void mm_column_major(int m, int n, int k, double alpha, const double *restrict A, int lda,
                     const double *restrict B, int ldb, double beta, double *restrict C, int ldc)
{
  int i, j, l;
  double sum;
  for (j = 0; j < n; j++)
    for (i = 0; i < m; i++) {
      sum = 0.0;
      for (l = 0; l < k; l++)
        sum += A[i + l * lda] * B[l + j * ldb];
      C[i + j * ldc] = alpha * sum + beta * C[i + j * ldc];
    }
}
