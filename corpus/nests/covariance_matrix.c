/* Covariance of the returns of all pairs of assets, their means known. */

void covariance_matrix(int days, int assets, const double R[days][assets],
                       const double mean[assets], double S[assets][assets])
{
  for (int a = 0; a < assets; a++)
    for (int b = 0; b < assets; b++) {
      double s = 0.0;
      for (int t = 0; t < days; t++)
        s += (R[t][a] - mean[a]) * (R[t][b] - mean[b]);
      S[a][b] = s / (days - 1.0);
    }
}
