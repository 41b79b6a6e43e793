/* Every row divided by its largest absolute value, in place. */

#include <math.h>

void row_max_normalise(int n, int m, double X[n][m])
{
  for (int i = 0; i < n; i++) {
    double top = 0.0;
    for (int j = 0; j < m; j++) {
      double a = fabs(X[i][j]);
      if (a > top)
        top = a;
    }
    for (int j = 0; j < m; j++)
      X[i][j] /= top;
  }
}
