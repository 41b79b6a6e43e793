/* One explicit step of the heat equation on a plate, five-point Laplacian. */

void heat_2d(int n, int m, float c, float u[n][m], float v[n][m])
{
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < m - 1; j++)
      v[i][j] = u[i][j] + c * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1]
                               - 4.0f * u[i][j]);
}
