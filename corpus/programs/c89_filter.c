/* C89: everything is declared on top, counters are used again, the mean is computed first. */

void c89_filter(int n, int rounds, float weight, float *x, float *y)
{
  int i, r;
  float mean;
  mean = 0.0f;
  for (i = 0; i < n; i++)
    mean += x[i];
  mean = mean / (n + 1);
  for (r = 0; r < rounds; r++) {
    for (i = 1; i < n; i++)
      y[i] = weight * (x[i] + x[i - 1]) - mean;
    for (i = 1; i < n; i++)
      x[i] = y[i];
  }
}
