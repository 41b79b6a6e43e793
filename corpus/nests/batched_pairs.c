/* M[b][p][q][i][j] = sum over k of A[b][p][i][k] * B[b][q][k][j]: every p with every q. */

void batched_pairs(int nb, int np, int nq, int n, int u, const double A[nb][np][n][u],
                   const double B[nb][nq][u][n], double M[nb][np][nq][n][n])
{
  for (int b = 0; b < nb; b++)
    for (int p = 0; p < np; p++)
      for (int q = 0; q < nq; q++)
        for (int i = 0; i < n; i++)
          for (int j = 0; j < n; j++) {
            double sum = 0.0;
            for (int k = 0; k < u; k++)
              sum += A[b][p][i][k] * B[b][q][k][j];
            M[b][p][q][i][j] = sum;
          }
}
