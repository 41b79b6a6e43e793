/* The largest eigenvalue of a matrix without negative elements, for several shifts, each until two
   estimates agree; the loop is left in the middle. */

#include <math.h>

void power_iteration(int n, int shifts, int most, float agree, const float m[n][n], float x[n],
                     float value[shifts], int taken[shifts])
{
  float y[n];
  for (int s = 0; s < shifts; s++) {
    float estimate = 0;
    int k = 0;
    for (int i = 0; i < n; i++)
      x[i] = 1;
    do {
      float norm = 0, last = estimate;
      for (int i = 0; i < n; i++) {
        float sum = s * x[i];
        for (int j = 0; j < n; j++)
          sum += fabsf(m[i][j]) * x[j];
        y[i] = sum;
      }
      for (int i = 0; i < n; i++)
        norm += y[i] * y[i];
      estimate = sqrtf(norm);
      k++;
      if (fabsf(estimate - last) <= agree * estimate)
        break;
      for (int i = 0; i < n; i++)
        x[i] = y[i] / estimate;
    } while (k < most);
    value[s] = estimate;
    taken[s] = k;
  }
}
