/* Covariance of the M columns of a table of N rows whose column means are known. Both operands are
   the same array: it is not staged. */

void covariance(int N, int M, double data[N][M], double mean[M], double cov[M][M])
{
  for (int i = 0; i < M; i++)
    for (int j = 0; j < M; j++) {
      double acc = 0;
      for (int k = 0; k < N; k++)
        acc += (data[k][i] - mean[i]) * (data[k][j] - mean[j]);
      cov[i][j] = acc / (N - 1.0);
    }
}
