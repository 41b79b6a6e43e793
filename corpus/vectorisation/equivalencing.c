/* Equivalencing: several names for the same storage. */

double pool[64];

/* Two halves of one pool. */
void halves(const double x[32])
{
  double *low = pool, *high = pool + 32;
  for (int i = 0; i < 32; i++) { /* yes */
    low[i] = x[i];
    high[i] = 2 * x[i];
  }
}

/* A name that starts one element further on. */
void one_further(int n, double cell[n + 1], const double x[n])
{
  double *next = cell + 1;
  for (int i = 0; i < n; i++) /* no: flow of cell, distance 1 */
    next[i] = cell[i] * x[i];
}

/* A row of a grid under a name of its own. */
void row_by_row(int n, int m, double grid[n][m])
{
  for (int i = 1; i < n; i++) { /* no: flow of grid, distance 1 */
    double *row = grid[i];
    const double *above = grid[i - 1];
    for (int j = 0; j < m; j++) /* yes */
      row[j] = row[j] + above[j];
  }
}

/* A name that starts in the middle, and runs towards the other. */
void towards_each_other(int n, double cell[2 * n])
{
  double *upper = cell + n;
  for (int i = 0; i < n; i++) /* yes */
    upper[n - 1 - i] = cell[i] - 1;
}

/* A block of values seen as rows of four. */
void rows_of_four(int n, double cell[4 * n])
{
  double(*quad)[4] = (double(*)[4])cell;
  for (int i = 0; i < n; i++)   /* yes (unknown) */
    for (int k = 0; k < 4; k++) /* yes (unknown) */
      quad[i][k] = i + k;
}

/* The same, as members of one object. */
struct state {
  double now[50], then[50];
};

void advance(struct state *s)
{
  for (int i = 1; i < 50; i++) { /* yes */
    s->then[i] = s->now[i];
    s->now[i] = s->now[i] + 1;
  }
}

void advance_chained(struct state *s)
{
  for (int i = 1; i < 50; i++) { /* no: flow of s.now, distance 1 */
    s->then[i] = s->now[i - 1];
    s->now[i] = s->then[i] + 1;
  }
}
