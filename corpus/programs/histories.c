/* Numbers of whole arrays between nests, in a loop of time: sums, extremes, several at once, under
   a condition, of a matrix, of a part that grows. Integers, so that any order gives the same. */

void histories(int n, int m, int steps, const int a[n], int g[n][m], float f[n], long totals[steps],
               int *worst, float *least)
{
  int top = -1000000;
  float low = 1e30f;

  for (int i = 0; i < n; i++)
    if (f[i] < low)
      low = f[i];
  for (int i = 0; i < n; i++) {
    f[i] = f[i] - low;
    if (a[i] > top)
      top = a[i];
  }
  for (int t = 0; t < steps; t++) {
    long total = 0;
    int odd = 0, some = 0;
    for (int i = 0; i < n; i++)
      for (int j = 0; j < m; j++)
        total += g[i][j];
    for (int i = 0; i < n; i++) {
      int d = g[i][0] - a[i];
      if (d & 1)
        odd += d;
      some |= d;
    }
    for (int i = 0; i < t; i++)
      total += totals[i];
    for (int i = 0; i < n; i++)
      for (int j = 0; j < m; j++)
        g[i][j] = (g[i][j] ^ odd) - (some & 15);
    totals[t] = total;
  }
  *worst = top;
  for (int i = 0; i < n; i++)
    totals[0] -= a[i];
  *least = low;
}
