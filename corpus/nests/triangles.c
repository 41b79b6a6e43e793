/* Number of triangles on each edge i < j, by the common neighbours in rows of the adjacency matrix. */

void triangles(int n, unsigned char adj[n][n], int count[n][n])
{
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      int common = 0;
      if (i < j && adj[i][j] != 0)
        for (int k = 0; k < n; k++)
          common += adj[i][k] != 0 && adj[j][k] != 0;
      count[i][j] = common;
    }
}
