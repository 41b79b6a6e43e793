/* Sparse matrix times vector in ELLPACK format: at most k entries a row, stored by columns. */

void ellpack(int n, int m, int k, const int col[k][n], const double val[k][n], const double x[m],
             double y[n])
{
  for (int i = 0; i < n; i++) {
    double sum = 0.0;
    for (int e = 0; e < k; e++)
      sum += val[e][i] * x[col[e][i]];
    y[i] = sum;
  }
}
