/* The columns of B mixed by the rows of A, each row weighted by a gain that falls off with its
   distance from a centre; the gains are kept. */

void projected_gain(int n, int m, int p, double centre, double width, const double z[n],
                    const double A[n][p], const double B[p][m], double C[n][m], double gain[n])
{
  double scale = 1.0 / (width * width);
  for (int i = 0; i < n; i++) {
    double d = z[i] - centre;
    double w = 1.0 / (1.0 + d * d * scale);
    for (int j = 0; j < m; j++) {
      double s = 0.0;
      for (int k = 0; k < p; k++)
        s += A[i][k] * B[k][j];
      C[i][j] = w * s;
    }
    gain[i] = w;
  }
}
