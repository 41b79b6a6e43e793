/* R = X - U * Y, where only the upper triangle of U counts. */

void triangular_product(int n, int m, const double U[n][n], const double X[n][m],
                        const double Y[n][m], double R[n][m])
{
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      double sum = X[i][j];
      for (int k = i; k < n; k++)
        sum -= U[i][k] * Y[k][j];
      R[i][j] = sum;
    }
}
