/* Columns of A made orthogonal one after the other (modified Gram-Schmidt). */

#include <math.h>

void orthogonal(int m, int n, float A[restrict m][n], float R[restrict n][n],
                float Q[restrict m][n])
{
  for (int k = 0; k < n; k++) {
    float norm = 0;
    for (int i = 0; i < m; i++)
      norm += A[i][k] * A[i][k];
    R[k][k] = sqrtf(norm + 1.0f);
    for (int i = 0; i < m; i++)
      Q[i][k] = A[i][k] / R[k][k];
    for (int j = k + 1; j < n; j++) {
      R[k][j] = 0;
      for (int i = 0; i < m; i++)
        R[k][j] += Q[i][k] * A[i][j];
      for (int i = 0; i < m; i++)
        A[i][j] -= Q[i][k] * R[k][j];
    }
  }
}
