/* Sum and sum of squares of every row, in double although the data are float. */

void row_moments(int n, int m, const float X[n][m], double mean[n], double var[n])
{
  for (int i = 0; i < n; i++) {
    double s = 0.0, ss = 0.0;
    for (int j = 0; j < m; j++) {
      s += X[i][j];
      ss += (double)X[i][j] * X[i][j];
    }
    mean[i] = s / m;
    var[i] = ss / m - (s / m) * (s / m);
  }
}
