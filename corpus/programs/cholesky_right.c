/* Cholesky factorisation of a symmetric matrix, right-looking: a pivot, a column, the rest. */

#include <math.h>

void cholesky_right(int n, double A[restrict n][n])
{
  for (int k = 0; k < n; k++) {
    A[k][k] = sqrt(fabs(A[k][k]) + 1.0);
    for (int i = k + 1; i < n; i++)
      A[i][k] /= A[k][k];
    for (int i = k + 1; i < n; i++)
      for (int j = k + 1; j <= i; j++)
        A[i][j] -= A[i][k] * A[j][k];
  }
}
