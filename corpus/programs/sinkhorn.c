/* Many matrices are scaled until their rows and their columns have sums of 1 (Sinkhorn and Knopp,
   "Concerning nonnegative matrices and doubly stochastic matrices", 1967). Parallelism: the
   matrices; in every round the rows, then the columns; in each of them the terms of its sum. */

void sinkhorn(int outer, int rounds, int n, int m, const float a[restrict outer][n][m],
              float row[restrict outer][n], float column[restrict outer][m])
{
  for (int o = 0; o < outer; o++) {
    for (int j = 0; j < m; j++)
      column[o][j] = 1;
    for (int round = 0; round < rounds; round++) {
      for (int i = 0; i < n; i++) {
        float s = 0;
        for (int j = 0; j < m; j++)
          s += a[o][i][j] * column[o][j];
        row[o][i] = 1 / s;
      }
      for (int j = 0; j < m; j++) {
        float s = 0;
        for (int i = 0; i < n; i++)
          s += a[o][i][j] * row[o][i];
        column[o][j] = 1 / s;
      }
    }
  }
}
