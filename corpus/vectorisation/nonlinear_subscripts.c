/* Nonlinear subscripts: quotients, remainders, products of loop variables. */

/* A remainder by a constant comes back after as many iterations. */
void ring_buffer(int n, double ring[16], const double x[n])
{
  for (int i = 0; i < n; i++) /* no: output of ring */
    ring[i % 16] = x[i];
}

/* Quotient and remainder together tell every iteration apart. */
void as_a_grid(int n, double grid[n][8], const double x[8 * n])
{
  for (int i = 0; i < 8 * n; i++) /* yes */
    grid[i / 8][i % 8] = x[i];
}

/* Two iterations share a target. */
void halved(int n, double out[n], const double x[n])
{
  for (int i = 0; i < n; i++) /* no: output of out, distance 1 */
    out[i / 2] = x[i];
}

/* Two share a target that is added to. */
void pooled(int n, double out[n], const double x[2 * n])
{
  for (int i = 0; i < 2 * n; i++) /* reduction + of out */
    out[i / 2] += x[i];
}

/* Squares are all different. */
void to_squares(int n, double out[n * n], const double x[n])
{
  for (int i = 0; i < n; i++) /* yes (unknown) */
    out[i * i] = x[i];
}

/* Rows of a flat array: the product of the row and the width. */
void flat_rows(int n, int m, double out[n * m], const double x[n * m])
{
  for (int i = 0; i < n; i++)   /* yes */
    for (int j = 0; j < m; j++) /* yes */
      out[i * m + j] = x[i * m + j] * 3;
}

/* Down the columns of a flat array. */
void flat_columns(int n, int m, double out[n * m])
{
  for (int i = 1; i < n; i++)   /* no: flow of out */
    for (int j = 0; j < m; j++) /* yes */
      out[i * m + j] = out[(i - 1) * m + j] + 1;
}

/* The packed lower triangle: i (i + 1) / 2 + j. */
void packed_triangle(int n, double out[n * n], double x[n][n])
{
  for (int i = 0; i < n; i++)    /* yes (unknown) */
    for (int j = 0; j <= i; j++) /* yes */
      out[i * (i + 1) / 2 + j] = x[i][j];
}

/* The bits of the place, lowest ones first. */
void masked(int n, double out[4], const double x[n])
{
  for (int i = 0; i < n; i++) /* no: output of out */
    out[i & 3] = x[i];
}

/* Shifted, the places keep apart. */
void shifted(int n, double out[8 * n], const double x[n])
{
  for (int i = 0; i < n; i++) /* yes */
    out[(i << 3) + 1] = x[i] - 1;
}
