/* A += alpha * x * transpose(y), the rank-one update. */

void outer_product(int n, int m, float alpha, const float x[n], const float y[m], float A[n][m])
{
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      A[i][j] += alpha * x[i] * y[j];
}
