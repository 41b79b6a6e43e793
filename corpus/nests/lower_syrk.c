/* The lower half of A * A^T. */

void lower_syrk(int n, int u, const float a[n][u], float c[n][n])
{
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= i; j++) {
      float sum = 0;
      for (int k = 0; k < u; k++)
        sum += a[i][k] * a[j][k];
      c[i][j] = sum;
    }
}
