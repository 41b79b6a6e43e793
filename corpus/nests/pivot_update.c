/* One step of Gaussian elimination: multiples of the first row are taken off the others. */

void pivot_update(int n, int m, double A[n][m])
{
  for (int i = 1; i < n; i++) {
    double factor = A[i][0] / A[0][0];
    for (int j = 1; j < m; j++)
      A[i][j] -= factor * A[0][j];
  }
}
