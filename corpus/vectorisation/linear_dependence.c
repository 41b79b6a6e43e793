/* Linear dependence: the subscripts are linear in the loop variables. */

/* Every cell takes the old value of the one after it. */
void take_next(int n, double cell[n], const double rate[n])
{
  for (int i = 0; i + 1 < n; i++) /* no: anti of cell, distance 1 */
    cell[i] = cell[i + 1] * rate[i];
}

/* Backwards, every cell takes the old value of the one in front of it. */
void take_previous(int n, double cell[n], const double rate[n])
{
  for (int i = n - 1; i > 0; i--) /* no: anti of cell, distance 1 */
    cell[i] = cell[i - 1] + rate[i];
}

/* Cells at odd places are computed from those at even places. */
void odd_from_even(int n, double cell[n], const double rate[n])
{
  for (int i = 1; i < n; i += 2) /* yes */
    cell[i] = cell[i - 1] - rate[i];
}

/* A chain through the odd places only. */
void odd_chain(int n, double cell[n], const double rate[n])
{
  for (int i = 3; i < n; i += 2) /* no: flow of cell, distance 1 */
    cell[i] = cell[i - 2] * rate[i];
}

/* What is written lies behind everything that is read. */
void second_half(int n, double cell[2 * n], const double rate[n])
{
  for (int i = 0; i < n; i++) /* yes */
    cell[n + i] = cell[i] / rate[i];
}

/* 6i + 1 and 4j + 2 are never equal: one is odd, the other is not. */
void by_parity(int n, double cell[6 * n + 2])
{
  for (int i = 0; i < n; i++) /* yes */
    cell[6 * i + 1] = cell[4 * i + 2] + 1;
}

/* Rows depend on the row above and the column to the left of them. */
void wavefront(int n, int m, double grid[n][m])
{
  for (int i = 1; i < n; i++)   /* no: flow of grid, distance 1 */
    for (int j = 1; j < m; j++) /* no: flow of grid, distance 1 */
      grid[i][j] = grid[i - 1][j] + grid[i][j - 1];
}

/* Only the rows depend on each other. */
void sheared_rows(int n, int m, double grid[n][m])
{
  for (int i = 1; i < n; i++)       /* no: flow of grid, distance 1 */
    for (int j = 0; j + 1 < m; j++) /* yes */
      grid[i][j] = grid[i - 1][j + 1] / 2;
}

/* Three rows are computed from the three above; these groups depend on each other, not their rows. */
void grouped_rows(int n, double grid[3 * n + 3][8])
{
  for (int i = 1; i <= n; i++)    /* no: flow of grid, distance 1 */
    for (int r = 0; r < 3; r++)   /* yes */
      for (int j = 0; j < 8; j++) /* yes */
        grid[3 * i + r][j] = grid[3 * i + r - 3][j] + r;
}
