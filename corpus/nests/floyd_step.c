/* One step of all-pairs shortest paths: may a path go through vertex k? */

void floyd_step(int n, int k, const int D[n][n], int E[n][n])
{
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      int through = D[i][k] + D[k][j];
      E[i][j] = through < D[i][j] ? through : D[i][j];
    }
}
