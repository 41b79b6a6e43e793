/* Triangular and square nests in which an element is used inside a triangle only, and outside. */
void cov(int n, int m, float fn, const float data[restrict n][m], float cov[restrict m][m])
{
  for (int i = 0; i < m; i++)
    for (int j = i; j < m; j++) {
      cov[i][j] = 0;
      for (int k = 0; k < n; k++)
        cov[i][j] += data[k][i] * data[k][j];
      cov[i][j] /= fn - 1;
      cov[j][i] = cov[i][j];
    }
}
void scaled(int ni, int nl, int nj, double beta, const double tmp[restrict ni][nj], const double C[restrict nj][nl], double D[restrict ni][nl])
{
  for (int i = 0; i < ni; i++)
    for (int j = 0; j < nl; j++) {
      D[i][j] *= beta;
      for (int k = 0; k < nj; ++k)
        D[i][j] += tmp[i][k] * C[k][j];
    }
}
void everywhere(int n, int m, const float a[restrict m][n], float c[restrict m][m])
{
  for (int i = 0; i < m; i++)
    for (int j = 0; j < m; j++) {
      float s = 1;
      for (int k = 0; k < n; k++)
        if (j >= i) s += a[i][k] * a[j][k];
      c[i][j] = s;
    }
}
void integers(int n, int m, const int a[restrict m][n], int c[restrict m][m])
{
  for (int i = 0; i < m; i++)
    for (int j = i; j < m; j++) {
      int s = 1;
      for (int k = 0; k < n; k++)
        s += a[i][k] * a[j][k];
      c[i][j] = s;
    }
}
void inner(int n, int m, const float a[restrict m][n], float c[restrict m][m])
{
  for (int i = 0; i < m; i++)
    for (int j = 0; j < m; j++) {
      float s = 1;
      for (int k = 0; k < n; k++)
        if (k >= i) s += a[i][k] * a[j][k];
      if (j > i) c[i][j] = s;
    }
}
void twice(int n, int m, const float a[restrict m][n], float c[restrict m][m])
{
  for (int i = 0; i < m; i++)
    for (int j = 0; j <= i; j++) {
      c[i][j] *= 3;
      for (int k = 0; k < n; k++)
        c[i][j] += a[i][k] * a[j][k];
      c[j][i] = c[i][j] + 1;
    }
}
void before(int n, int m, const float a[restrict m][n], float c[restrict m][m], float d[restrict m][m])
{
  for (int i = 0; i < m; i++)
    for (int j = 0; j < m; j++) {
      float s = 1;
      for (int k = 0; k < n; k++)
        if (j >= i) s += a[i][k] * a[j][k];
      if (j >= i) c[i][j] = s;
      if (j < i) d[i][j] = s;
    }
}
