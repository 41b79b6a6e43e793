/* The cheapest order of a chain of matrix products: a triangular table, filled from its diagonal;
   every element is a minimum over all ways to cut a part of the chain in two. */

void chain_order(int n, const float sizes[n + 1], float cost[n][n])
{
  for (int i = n - 1; i >= 0; i--) {
    cost[i][i] = 0;
    for (int j = i + 1; j < n; j++) {
      float best = 1e30f;
      for (int k = i; k < j; k++) {
        float q = cost[i][k] + cost[k + 1][j] + sizes[i] * sizes[k + 1] * sizes[j + 1];
        if (q < best)
          best = q;
      }
      cost[i][j] = best;
    }
  }
}
