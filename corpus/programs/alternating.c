/* Implicit steps along the rows of a plate, then along its columns: each row, or column, is a
   recurrence forwards and one backwards. */

void alternating(int steps, int n, float u[restrict n][n], float v[restrict n][n])
{
  float p[n][n], q[n][n];
  float a = -0.5f * 4 / (n + 1), b = 1 - 2 * a;
  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < n - 1; i++) {
      v[0][i] = 1;
      p[i][0] = 0;
      q[i][0] = v[0][i];
      for (int j = 1; j < n - 1; j++) {
        p[i][j] = -a / (a * p[i][j - 1] + b);
        q[i][j] = (u[j][i] - a * (u[j][i - 1] + u[j][i + 1] + q[i][j - 1])) / b;
      }
      v[n - 1][i] = 1;
      for (int j = n - 2; j >= 1; j--)
        v[j][i] = p[i][j] * v[j + 1][i] + q[i][j];
    }
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        u[i][j] = 0.5f * (v[i][j] + v[i][j - 1]);
  }
}
