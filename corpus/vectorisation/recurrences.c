/* Recurrences: every value is made from the ones before it. */

void first_order(int n, double x[n], const double a[n], const double b[n])
{
  for (int i = 1; i < n; i++) /* no: flow of x, distance 1 */
    x[i] = a[i] * x[i - 1] + b[i];
}

void fibonacci(int n, double f[n])
{
  for (int i = 2; i < n; i++) /* no: flow of f */
    f[i] = f[i - 1] + f[i - 2];
}

/* Every element from all in front of it. */
void all_before(int n, double x[n], double weight[n][n])
{
  for (int i = 1; i < n; i++)   /* no: flow of x */
    for (int k = 0; k < i; k++) /* reduction + of x */
      x[i] += weight[i][k] * x[k];
}

/* Backwards, as after an elimination. */
void back_substitution(int n, double x[n], const double upper[n], const double diagonal[n])
{
  for (int i = n - 2; i >= 0; i--) /* no: flow of x, distance 1 */
    x[i] = (x[i] - upper[i] * x[i + 1]) / diagonal[i];
}

/* Four at a time do not know each other. */
void fourth_before(int n, double x[n], const double a[n])
{
  for (int i = 4; i < n; i++) /* no: flow of x, distance 4 */
    x[i] = x[i - 4] * a[i];
}

/* Down the columns, all columns at once. */
void down_the_columns(int n, int m, double x[n][m], double a[n][m])
{
  for (int i = 1; i < n; i++)   /* no: flow of x, distance 1 */
    for (int j = 0; j < m; j++) /* yes */
      x[i][j] = x[i - 1][j] * a[i][j];
}

/* Two that feed each other. */
void predator_and_prey(int n, double hare[n], double lynx[n])
{
  for (int t = 1; t < n; t++) { /* no: flow of hare, distance 1 */
    hare[t] = 2 * hare[t - 1] - lynx[t - 1];
    lynx[t] = lynx[t - 1] + hare[t - 1];
  }
}

/* A polynomial by Horner's rule: multiplied and added to, the scalar is no reduction. */
double horner(int n, const double coefficient[n], double x)
{
  double value = 0;
  for (int i = n - 1; i >= 0; i--) /* no: flow of value */
    value = value * x + coefficient[i];
  return value;
}
