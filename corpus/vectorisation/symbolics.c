/* Symbolics: sizes, offsets and strides that are known at run time only. A loop is said to carry a
   dependence where it does so for some of their values. */

void by_an_offset(int n, int k, double a[n + k], const double b[n])
{
  for (int i = 0; i < n; i++) /* no: anti of a */
    a[i] = a[i + k] + b[i];
}

/* Behind the whole range, whatever n is. */
void behind(int n, double a[n + n], const double b[n])
{
  for (int i = 0; i < n; i++) /* yes */
    a[i] = a[i + n] + b[i];
}

/* The check makes sure that the two parts do not meet. */
void checked_offset(int n, int k, double a[n + k], const double b[n])
{
  if (k >= n)
    for (int i = 0; i < n; i++) /* yes */
      a[i] = a[i + k] * b[i];
}

/* From a place that is known at run time to one that is. */
void between(int lo, int hi, double a[hi + 1])
{
  for (int i = lo; i < hi; i++) /* no: flow of a, distance 1 */
    a[i + 1] = a[i] + i;
}

/* One element against all: the data of the sizes decide, and for some it is inside the range. */
void pivot(int n, int p, double a[n])
{
  for (int i = 0; i < n; i++) /* no: flow of a */
    a[i] = a[i] - a[p];
}

/* Above the pivot nothing meets it. */
void above_pivot(int n, int p, double a[n])
{
  for (int i = p + 1; i < n; i++) /* yes */
    a[i] = a[i] - a[p];
}

/* A stride that is known at run time: no two iterations meet unless it is 0. */
void by_a_stride(int n, int step, double a[n * step + 1], const double b[n])
{
  if (step > 0)
    for (int i = 0; i < n; i++) /* yes */
      a[i * step] = b[i];
}

/* The bound itself is not a constant of the loop nest: it belongs to the row. */
void ragged(int n, int m, const int length[n], double row[n][m])
{
  for (int i = 0; i < n; i++)           /* yes */
    for (int j = 0; j < length[i]; j++) /* yes */
      row[i][j] = i + 2 * j;
}
