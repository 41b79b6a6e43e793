/* Exponential smoothing of n series: the constant of a grid that forecasts each of them best. */

void smoothing_grid(int n, int grid, int len, const float x[n][len], const float alpha[grid],
                    int best[n], float least[n])
{
  for (int i = 0; i < n; i++) {
    float lowest = 3.0e38f;
    int at = -1;
    for (int a = 0; a < grid; a++) {
      float level = 0.0f, error = 0.0f;
      for (int t = 0; t < len; t++) {
        float miss = x[i][t] - level;
        error += miss * miss;
        level += alpha[a] * miss;
      }
      if (error < lowest) {
        lowest = error;
        at = a;
      }
    }
    best[i] = at;
    least[i] = lowest;
  }
}
