/* A triangular system: no loop is parallel as it stands; by columns, the updates of one unknown
   are, as is what follows. */

void backwards_solve(int n, const double L[restrict n][n], const double b[restrict n],
                     double x[restrict n], double r[restrict n])
{
  double y[n];
  for (int i = 0; i < n; i++) {
    y[i] = b[i];
    for (int j = 0; j < i; j++)
      y[i] -= L[i][j] * y[j];
    y[i] = y[i] / (L[i][i] * L[i][i] + 1);
    x[i] = y[i];
  }
  for (int i = 0; i < n; i++) {
    double s = b[i];
    for (int j = 0; j < n; j++)
      s -= L[i][j] * x[j];
    r[i] = s;
  }
}
