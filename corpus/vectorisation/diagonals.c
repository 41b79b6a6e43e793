/* Diagonals: subscripts that move through rows and columns together. */

void set_identity(int n, double g[n][n])
{
  for (int i = 0; i < n; i++)   /* yes */
    for (int j = 0; j < n; j++) /* yes */
      g[i][j] = 0;
  for (int i = 0; i < n; i++) /* yes */
    g[i][i] = 1;
}

/* Each diagonal is a chain; chains know nothing of each other. */
void along_diagonals(int n, int m, double g[n][m])
{
  for (int i = 1; i < n; i++)   /* no: flow of g, distance 1 */
    for (int j = 1; j < m; j++) /* yes */
      g[i][j] = g[i - 1][j - 1] + 1;
}

/* The diagonal is updated from the row in front of it. */
void diagonal_from_row(int n, double g[n][n])
{
  for (int i = 1; i < n; i++) /* yes */
    g[i][i] = g[i][i - 1] + g[i - 1][i];
}

/* The diagonal from the one before. */
void diagonal_chain(int n, double g[n][n])
{
  for (int i = 1; i < n; i++) /* no: flow of g, distance 1 */
    g[i][i] = g[i - 1][i - 1] / 2;
}

/* The other diagonal crosses the main one. */
void both_diagonals(int n, double g[n][n])
{
  for (int i = 0; i < n; i++) { /* yes */
    g[i][i] = 1;
    g[i][n - 1 - i] = 2;
  }
}

/* The diagonals one after the other: those of one wave are independent. */
void waves(int n, double g[n][n])
{
  for (int w = 2; w < 2 * n - 1; w++) /* no: flow of g, distance 1 */
    for (int i = 1; i < n; i++)       /* yes */
      if (w - i >= 1 && w - i < n)
        g[i][w - i] = g[i - 1][w - i] + g[i][w - i - 1];
}

/* The sums of all diagonals. */
void diagonal_sums(int n, double sum[2 * n], double g[n][n])
{
  for (int i = 0; i < n; i++)   /* reduction + of sum */
    for (int j = 0; j < n; j++) /* yes */
      sum[i + j] += g[i][j];
}

/* The diagonal of a flat matrix. */
void flat_diagonal(int n, double g[n * n])
{
  for (int i = 0; i < n; i++) /* yes */
    g[i * n + i] = 1;
}
