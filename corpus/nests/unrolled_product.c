/* A matrix product whose sums are unrolled four times, with a loop for the rest. */

void unrolled_product(int m, int n, int u, const double a[m][u], const double b[u][n],
                      double c[m][n])
{
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++) {
      double s = 0.0;
      int k;
      for (k = 0; k + 3 < u; k += 4) {
        s += a[i][k] * b[k][j];
        s += a[i][k + 1] * b[k + 1][j];
        s += a[i][k + 2] * b[k + 2][j];
        s += a[i][k + 3] * b[k + 3][j];
      }
      for (; k < u; k++)
        s += a[i][k] * b[k][j];
      c[i][j] = s;
    }
}
