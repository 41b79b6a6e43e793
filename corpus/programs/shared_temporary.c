/* Two nests that share an array of the function: differences, then a smoothed signal. */

void shared_temporary(int n, int m, const float x[restrict n][m], float y[restrict n][m])
{
  float d[n][m];
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      d[i][j] = j > 0 ? x[i][j] - x[i][j - 1] : 0;
  for (int j = 0; j < m; j++)
    for (int i = 0; i < n; i++)
      y[i][j] = x[i][j] + 0.5f * d[n - 1 - i][j];
}
