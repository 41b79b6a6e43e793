/* Calls: loops around functions of the same file, and of others. */

static double total;

double elsewhere(double x);

static double square(double x)
{
  return x * x;
}

static void put(double *out, int at, double value)
{
  out[at] = value;
}

static void account(double amount)
{
  total += amount;
}

static void smooth(int m, double *row)
{
  for (int j = 1; j < m; j++) /* no: flow of row, distance 1 */
    row[j] = (row[j] + row[j - 1]) / 2;
}

void squares(int n, double out[n], const double x[n])
{
  for (int i = 0; i < n; i++) /* yes */
    out[i] = square(x[i]) + square(2);
}

/* The function writes, each call to an element of its own. */
void puts_apart(int n, double out[n], const double x[n])
{
  for (int i = 0; i < n; i++) /* yes */
    put(out, i, x[i]);
}

/* Two calls that meet in the next iteration. */
void puts_twice(int n, double out[n + 1], const double x[n])
{
  for (int i = 0; i < n; i++) { /* no: output of out, distance 1 */
    put(out, i, x[i]);
    put(out, i + 1, -x[i]);
  }
}

/* The function adds to a global. */
void accounts(int n, const double x[n])
{
  for (int i = 0; i < n; i++) /* reduction + of total */
    account(x[i]);
}

/* A row for every call. */
void smooth_rows(int n, int m, double grid[n][m])
{
  for (int i = 0; i < n; i++) /* yes */
    smooth(m, grid[i]);
}

/* Nobody knows what a function of another file does. */
void unknown_function(int n, double out[n], const double x[n])
{
  for (int i = 0; i < n; i++) /* unknown: effects */
    out[i] = elsewhere(x[i]);
}
