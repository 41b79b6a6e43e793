/* Correlation of each signal with each template; what one of the two has alone is summed up in the
   same loop. */

#include <math.h>

void pair_correlation(int n, int m, int u, const float *x, const float *y, float *r)
{
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      float both = 0.0f, first = 0.0f, second = 0.0f;
      for (int k = 0; k < u; k++) {
        both += x[i * u + k] * y[j * u + k];
        first += x[i * u + k] * x[i * u + k];
        second += y[j * u + k] * y[j * u + k];
      }
      r[i * m + j] = both / (first + second + 1.0f);
    }
}
