/* The shortest paths between all nodes of a graph (Floyd and Warshall): row k and column k are
   written where everything else reads them. */

void shortest_paths(int n, float d[n][n])
{
  for (int k = 0; k < n; k++)
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++)
        if (d[i][k] + d[k][j] < d[i][j])
          d[i][j] = d[i][k] + d[k][j];
}
