/* Forces within a cutoff, positions as n x 3 and the force in a small array of three. */

void force_vector(int n, double cutoff2, double pos[n][3], double force[n][3])
{
  int i, j, c;
  for (i = 0; i < n; i++) {
    double f[3] = {0.0, 0.0, 0.0};
    for (j = 0; j < n; j++) {
      double d[3], d2 = 0.0;
      for (c = 0; c < 3; c++) {
        d[c] = pos[i][c] - pos[j][c];
        d2 += d[c] * d[c];
      }
      if (j != i && d2 < cutoff2) {
        double inv = 1.0 / d2, s6 = inv * inv * inv;
        for (c = 0; c < 3; c++)
          f[c] += 24.0 * inv * s6 * (2.0 * s6 - 1.0) * d[c];
      }
    }
    for (c = 0; c < 3; c++)
      force[i][c] = f[c];
  }
}
