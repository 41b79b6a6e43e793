/* Gaussian kernel density estimate of the sample x at the points t. */

#include <math.h>

void kernel_density(int n, int m, double h, const double x[n], const double t[m], double f[m])
{
  const double norm = 1.0 / (n * h * 2.5066282746310002);
  for (int i = 0; i < m; i++) {
    double sum = 0.0;
    for (int j = 0; j < n; j++) {
      double u = (t[i] - x[j]) / h;
      sum += exp(-0.5 * u * u);
    }
    f[i] = norm * sum;
  }
}
