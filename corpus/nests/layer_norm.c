/* Layer normalisation: every row of X gets mean 0 and variance 1, then a scale and a shift for each
   column; the mean and the reciprocal deviation are kept for the backward pass. */

#include <math.h>

void layer_norm(int n, int m, float eps, const float X[n][m], const float gain[m],
                const float shift[m], float Y[n][m], float mean[n], float rstd[n])
{
  for (int i = 0; i < n; i++) {
    float sum = 0.0f;
    for (int j = 0; j < m; j++)
      sum += X[i][j];
    float mu = sum / m;
    float squares = 0.0f;
    for (int j = 0; j < m; j++)
      squares += (X[i][j] - mu) * (X[i][j] - mu);
    float r = 1.0f / sqrtf(squares / m + eps);
    for (int j = 0; j < m; j++)
      Y[i][j] = (X[i][j] - mu) * r * gain[j] + shift[j];
    mean[i] = mu;
    rstd[i] = r;
  }
}
