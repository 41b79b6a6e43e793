/* y = transpose(A) * x for a flat A of n rows and m columns. */

#include <stddef.h>

void matvec_transposed(size_t n, size_t m, const double *restrict A, const double *restrict x,
                       double *restrict y)
{
  for (size_t j = 0; j < m; j++) {
    double sum = 0.0;
    for (size_t i = 0; i < n; i++)
      sum += A[i * m + j] * x[i];
    y[j] = sum;
  }
}
