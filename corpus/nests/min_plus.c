/* Distance product of two graphs: the shortest path of two legs. */

void min_plus(int n, int m, int u, const unsigned A[n][u], const unsigned B[u][m],
              unsigned C[n][m])
{
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      unsigned best = 4000000000u;
      for (int k = 0; k < u; k++) {
        unsigned d = A[i][k] + B[k][j];
        if (d < best)
          best = d;
      }
      C[i][j] = best;
    }
}
