/* y[i][j] = sum over k of A[i][k] * X[i][j][k]: one row of A is shared by all j, X is used once. */

void weighted_rows(int n, int m, int u, const float A[n][u], const float X[n][m][u],
                   float y[n][m])
{
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      float s = 0.0f;
      for (int k = 0; k < u; k++)
        s += A[i][k] * X[i][j][k];
      y[i][j] = s;
    }
}
