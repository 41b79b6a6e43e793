#include <math.h>

/* Euclidean norm of a matrix. */
void norm(int n, int m, const double x[restrict n][m], double *restrict out)
{
  double s = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      s += x[i][j] * x[i][j];
  *out = sqrt(s);
}
