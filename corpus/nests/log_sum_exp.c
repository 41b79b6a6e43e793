/* Log-likelihood of n points under k Gaussian components of unit covariance, with the largest term
   taken out of the sum. */

#include <math.h>

void log_sum_exp(int n, int k, const double logp[k][n], const double logw[k], double out[n])
{
  for (int i = 0; i < n; i++) {
    double top = -INFINITY;
    for (int c = 0; c < k; c++)
      top = fmax(top, logw[c] + logp[c][i]);
    double sum = 0.0;
    for (int c = 0; c < k; c++)
      sum += exp(logw[c] + logp[c][i] - top);
    out[i] = top + log(sum);
  }
}
