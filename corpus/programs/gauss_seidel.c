/* Sweeps of Gauss and Seidel in place: no loop is parallel, the diagonals of all sweeps together
   are. */

void gauss_seidel(int sweeps, int n, double u[n][n], const double f[n][n])
{
  int s, i, j;
  for (s = 0; s < sweeps; s++)
    for (i = 1; i < n - 1; i++)
      for (j = 1; j < n - 1; j++)
        u[i][j] = 0.25 * (u[i - 1][j] + u[i][j - 1] + u[i][j + 1] + u[i + 1][j] - f[i][j]);
}
