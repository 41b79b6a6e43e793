/* Inner products of every row of A with the rows of B before it. */

void lower_pairs(int n, int u, const double A[n][u], const double B[n][u], double C[n][n])
{
  for (int i = 0; i < n; i++)
    for (int j = 0; j < i; j++) {
      double s = 0.0;
      for (int k = 0; k < u; k++)
        s += A[i][k] * B[j][k];
      C[i][j] = s;
    }
}
