/* One PageRank step: every page pulls its share from the pages that link to it. */

void pagerank(int n, int links, double damping, const int start[n + 1], const int from[links],
              const double rank[n], const int degree[n], double next[n])
{
  for (int v = 0; v < n; v++) {
    double sum = 0.0;
    for (int e = start[v]; e < start[v + 1]; e++) {
      int u = from[e];
      sum += rank[u] / degree[u];
    }
    next[v] = (1.0 - damping) / n + damping * sum;
  }
}
