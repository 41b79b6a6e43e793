/* Dot product: no loop but the reduction. */

void dot(int n, const float x[restrict n], const float y[restrict n], float out[restrict 1])
{
  float s = 0;
  for (int i = 0; i < n; i++)
    s += x[i] * y[i];
  out[0] = s;
}
