/* Vertices that are reachable in two steps, over a Boolean adjacency matrix. */

#include <stdbool.h>

void reachable(int n, bool adj[n][n], bool two[n][n])
{
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      bool found = false;
      for (int k = 0; k < n; k++)
        found = found || (adj[i][k] && adj[k][j]);
      two[i][j] = found;
    }
}
