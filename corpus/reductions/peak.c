#include <math.h>

/* The largest magnitude. */
void peak(int n, const float x[restrict n], float out[restrict 1])
{
  float top = 0;
  for (int i = 0; i < n; i++)
    top = fmaxf(top, fabsf(x[i]));
  out[0] = top;
}
