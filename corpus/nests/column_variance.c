/* Variance of every column of X in two passes: the mean, then the squared distances from it. */

void column_variance(int n, int m, const double X[n][m], double var[m])
{
  int i, j;
  for (j = 0; j < m; j++) {
    double mean = 0.0, sum = 0.0;
    for (i = 0; i < n; i++)
      mean += X[i][j];
    mean /= n;
    for (i = 0; i < n; i++)
      sum += (X[i][j] - mean) * (X[i][j] - mean);
    var[j] = sum / n;
  }
}
