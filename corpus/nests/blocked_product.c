/* A matrix product in blocks that fit the cache of a CPU. */

#define BLOCK 48
#define MIN(a, b) ((a) < (b) ? (a) : (b))

void blocked_product(int m, int u, int n, const double A[m][u], const double B[u][n],
                     double C[m][n])
{
  for (int ii = 0; ii < m; ii += BLOCK)
    for (int kk = 0; kk < u; kk += BLOCK)
      for (int jj = 0; jj < n; jj += BLOCK)
        for (int i = ii; i < MIN(ii + BLOCK, m); i++)
          for (int k = kk; k < MIN(kk + BLOCK, u); k++) {
            double a = A[i][k];
            for (int j = jj; j < MIN(jj + BLOCK, n); j++)
              C[i][j] += a * B[k][j];
          }
}
