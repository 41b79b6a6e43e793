/* Length of the gradient of a field, by central differences. */

#include <math.h>

void gradient_magnitude(long n, long m, double h, double f[n][m], double g[n][m])
{
  for (long i = 1; i < n - 1; i++)
    for (long j = 1; j < m - 1; j++) {
      double dy = (f[i + 1][j] - f[i - 1][j]) / (2.0 * h);
      double dx = (f[i][j + 1] - f[i][j - 1]) / (2.0 * h);
      g[i][j] = sqrt(dx * dx + dy * dy);
    }
}
