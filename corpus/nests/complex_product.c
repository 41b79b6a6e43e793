/* C = A * B of complex matrices, real and imaginary parts in arrays of their own. */

void complex_product(int n, int m, int u, const float Ar[n][u], const float Ai[n][u],
                     const float Br[u][m], const float Bi[u][m], float Cr[n][m], float Ci[n][m])
{
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      float re = 0.0f, im = 0.0f;
      for (int k = 0; k < u; k++) {
        re += Ar[i][k] * Br[k][j] - Ai[i][k] * Bi[k][j];
        im += Ar[i][k] * Bi[k][j] + Ai[i][k] * Br[k][j];
      }
      Cr[i][j] = re;
      Ci[i][j] = im;
    }
}
