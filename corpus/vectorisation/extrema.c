/* Extrema: the largest and the smallest, and where they are. */

double largest(int n, const double x[n])
{
  double top = x[0];
  for (int i = 1; i < n; i++) /* reduction max of top */
    if (x[i] > top)
      top = x[i];
  return top;
}

/* By the conditional operator, of values without a sign. */
double smallest_size(int n, const double x[n])
{
  double low = 1e30;
  for (int i = 0; i < n; i++) { /* reduction min of low */
    double size = x[i] < 0 ? -x[i] : x[i];
    low = size < low ? size : low;
  }
  return low;
}

/* The range: both ends at once. */
double width(int n, const double x[n])
{
  double low = x[0], high = x[0];
  for (int i = 1; i < n; i++) { /* reduction min of low, max of high */
    if (x[i] < low)
      low = x[i];
    if (x[i] > high)
      high = x[i];
  }
  return high - low;
}

int place_of_largest(int n, const double x[n])
{
  double top = x[0];
  int place = 0;
  for (int i = 1; i < n; i++) /* reduction max of top, argmax of place */
    if (x[i] > top) {
      top = x[i];
      place = i;
    }
  return place;
}

/* Of equal ones the last. */
int place_of_smallest(int n, const double x[n])
{
  double low = x[0];
  int place = 0;
  for (int i = 1; i < n; i++) /* reduction min of low, argmin of place */
    if (x[i] <= low) {
      low = x[i];
      place = i;
    }
  return place;
}

/* In a grid, with both coordinates. */
void place_in_grid(int n, int m, double x[n][m], int at[2])
{
  double top = x[0][0];
  int row = 0, column = 0;
  for (int i = 0; i < n; i++)   /* reduction max of top, argmax of row, argmax of column */
    for (int j = 0; j < m; j++) /* reduction max of top, argmax of row, argmax of column */
      if (x[i][j] > top) {
        top = x[i][j];
        row = i;
        column = j;
      }
  at[0] = row;
  at[1] = column;
}

/* The largest of every row: rows know nothing of each other. */
void row_maxima(int n, int m, double out[n], double x[n][m])
{
  for (int i = 0; i < n; i++) { /* yes */
    double top = x[i][0];
    for (int j = 1; j < m; j++) /* reduction max of top */
      if (x[i][j] > top)
        top = x[i][j];
    out[i] = top;
  }
}

/* How often a new record was set depends on the order, unless there is none at all. */
int records(int n, const double x[n])
{
  double top = x[0];
  int count = 0;
  for (int i = 1; i < n; i++) /* unknown: flow of top */
    if (x[i] > top) {
      top = x[i];
      count++;
    }
  return count;
}
