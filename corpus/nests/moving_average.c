/* Mean of the w samples that end at each position. */

void moving_average(int n, int w, const float *restrict x, float *restrict y)
{
  int i, k;
  for (i = 0; i < n; i++) {
    float sum = 0;
    for (k = 0; k < w; k++)
      sum += x[i + k];
    y[i] = sum / w;
  }
}
