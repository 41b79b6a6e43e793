/* One leapfrog step of the wave equation in a box, seven-point Laplacian; prev becomes the next. */

void wave_3d(int n, int m, int l, double c2, double cur[n][m][l], double prev[n][m][l])
{
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < m - 1; j++)
      for (int k = 1; k < l - 1; k++) {
        double lap = cur[i - 1][j][k] + cur[i + 1][j][k] + cur[i][j - 1][k] + cur[i][j + 1][k]
                     + cur[i][j][k - 1] + cur[i][j][k + 1] - 6.0 * cur[i][j][k];
        prev[i][j][k] = 2.0 * cur[i][j][k] - prev[i][j][k] + c2 * lap;
      }
}
