/* Reductions: what is gathered over all iterations does not depend on their order. */

double sum(int n, const double x[n])
{
  double total = 0;
  for (int i = 0; i < n; i++) /* reduction + of total */
    total += x[i];
  return total;
}

double product_and_sum(int n, const double x[n], double *out)
{
  double total = 0, product = 1;
  for (int i = 0; i < n; i++) { /* reduction + of total, * of product */
    total -= x[i];
    product = x[i] * product;
  }
  *out = product;
  return total;
}

/* Under a condition on the data. */
double sum_positive(int n, const double x[n])
{
  double total = 0;
  for (int i = 0; i < n; i++) /* reduction + of total */
    if (x[i] > 0)
      total += x[i];
  return total;
}

/* Through both loops of a nest. */
double trace_of_product(int n, double a[n][n], double b[n][n])
{
  double total = 0;
  for (int i = 0; i < n; i++)   /* reduction + of total */
    for (int j = 0; j < n; j++) /* reduction + of total */
      total += a[i][j] * b[j][i];
  return total;
}

/* An element of an array that the inner loop does not move. */
void row_sums(int n, int m, double out[n], double x[n][m])
{
  for (int i = 0; i < n; i++)   /* yes */
    for (int j = 0; j < m; j++) /* reduction + of out */
      out[i] += x[i][j];
}

/* With the loops the other way round each element is summed by the outer one. */
void column_sums(int n, int m, double out[m], double x[n][m])
{
  for (int i = 0; i < n; i++)   /* reduction + of out */
    for (int j = 0; j < m; j++) /* yes */
      out[j] += x[i][j];
}

/* The sum so far is used: no reduction. */
void prefix(int n, double out[n], const double x[n])
{
  double total = 0;
  for (int i = 0; i < n; i++) { /* no: flow of total */
    total += x[i];
    out[i] = total;
  }
}

/* Added to and multiplied: the order matters. */
double mixed(int n, const double x[n])
{
  double value = 1;
  for (int i = 0; i < n; i++) { /* no: flow of value */
    value += x[i];
    value *= 2;
  }
  return value;
}

/* Bits and truth values. */
int flags(int n, const int x[n], int *every)
{
  int some = 0, all = 1;
  for (int i = 0; i < n; i++) { /* reduction | of some, && of all */
    some |= x[i];
    all = all && x[i] > 1;
  }
  *every = all;
  return some;
}

/* How many fall into each class. */
void classes(int n, int count[8], const int x[n])
{
  for (int i = 0; i < n; i++) /* reduction + of count */
    count[x[i] & 7]++;
}

/* Complex numbers, one sum for each part. */
void complex_dot(int n, double re[n], double im[n], double out[2])
{
  double x = 0, y = 0;
  for (int i = 0; i < n; i++) { /* reduction + of x, + of y */
    x += re[i] * re[i] - im[i] * im[i];
    y += 2 * re[i] * im[i];
  }
  out[0] = x;
  out[1] = y;
}
