/* For every point, how many other points lie in each of eight shells of width w around it. */

#define BINS 8

void pair_histogram(int n, float w, const float x[n], const float y[n], int count[n][BINS])
{
  for (int i = 0; i < n; i++) {
    int h[BINS];
    for (int b = 0; b < BINS; b++)
      h[b] = 0;
    for (int j = 0; j < n; j++) {
      float dx = x[i] - x[j], dy = y[i] - y[j];
      int b = (int)((dx * dx + dy * dy) / w);
      if (b < BINS)
        h[b]++;
    }
    for (int b = 0; b < BINS; b++)
      count[i][b] = h[b];
  }
}
