/* Covariance of the columns of X with the columns of Y over U common rows; the means are known. */

void cross_covariance(int U, int M, int N, double X[U][M], double Y[U][N], double mean_x[M],
                      double mean_y[N], double cov[M][N])
{
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      double acc = 0;
      for (int k = 0; k < U; k++)
        acc += (X[k][i] - mean_x[i]) * (Y[k][j] - mean_y[j]);
      cov[i][j] = acc / (U - 1.0);
    }
}
