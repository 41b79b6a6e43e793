/* D = alpha * A * B * C + beta * D, the product of A and B in an array of the function. */

void two_products(int n, int m, int k, int l, float alpha, float beta, const float A[restrict n][k],
                  const float B[restrict k][m], const float C[restrict m][l],
                  float D[restrict n][l])
{
  float T[n][m];
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      T[i][j] = 0;
      for (int p = 0; p < k; p++)
        T[i][j] += alpha * A[i][p] * B[p][j];
    }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < l; j++) {
      D[i][j] *= beta;
      for (int p = 0; p < m; p++)
        D[i][j] += T[i][p] * C[p][j];
    }
}
