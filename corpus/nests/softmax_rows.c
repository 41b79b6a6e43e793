/* Softmax of every row: the largest element is taken off first, so that no exponential overflows. */

#include <math.h>

void softmax_rows(int n, int m, const float X[n][m], float Y[n][m])
{
  for (int i = 0; i < n; i++) {
    float top = X[i][0];
    for (int j = 1; j < m; j++)
      top = fmaxf(top, X[i][j]);
    float sum = 0.0f;
    for (int j = 0; j < m; j++)
      sum += expf(X[i][j] - top);
    for (int j = 0; j < m; j++)
      Y[i][j] = expf(X[i][j] - top) / sum;
  }
}
