/* Global data-flow analysis: what is known about a scalar in front of the loop decides about it. */

/* The offset is set right before the loop. */
void known_offset(int n, double a[n + 1], const double b[n])
{
  int ahead = 1;
  for (int i = 0; i < n; i++) /* no: anti of a, distance 1 */
    a[i] = a[i + ahead] + b[i];
}

/* Zero steps ahead is the element itself. */
void known_zero(int n, double a[n], const double b[n])
{
  int ahead = 0;
  for (int i = 0; i < n; i++) /* yes */
    a[i] = a[i + ahead] + b[i];
}

/* Half the size, computed before. */
void computed_half(int n, double a[2 * n], const double b[2 * n])
{
  int size = 2 * n;
  int half = size / 2;
  for (int i = 0; i < half; i++) /* yes */
    a[i] = a[i + half] * b[i];
}

/* On both ways to the loop the offset lies beyond its range. */
void either_way_far(int n, int wide, double a[4 * n], const double b[n])
{
  int far = n;
  if (wide > 0)
    far = 3 * n;
  for (int i = 0; i < n; i++) /* yes */
    a[i] = a[i + far] + b[i];
}

/* On one of the ways it is 1. */
void one_way_near(int n, int wide, double a[n + n + 1], const double b[n])
{
  int ahead = 1;
  if (wide > 0)
    ahead = n;
  for (int i = 0; i < n; i++) /* no: anti of a */
    a[i] = a[i + ahead] + b[i];
}

/* An offset that the outer loop sets anew. */
void offset_of_the_row(int n, int m, double a[n][m + n])
{
  for (int i = 1; i < n; i++) { /* yes */
    int ahead = i;
    for (int j = 0; j < m; j++) /* no: anti of a */
      a[i][j] = a[i][j + ahead] + 1;
  }
}

/* The bound was cut to the size of the smaller array. */
void cut_to_size(int n, int m, double a[n + m], const double b[n])
{
  int count = n < m ? n : m;
  for (int i = 0; i < count; i++) /* yes */
    a[i] = a[i + m] - b[i];
}

/* A loop in front leaves a known value behind. */
void value_of_the_loop_before(int n, double a[n + n + 1], const double b[n])
{
  int i;
  for (i = 0; i < n; i++) /* privatizable i */
    a[i] = b[i];
  for (int k = 0; k < n; k++) /* yes */
    a[k + i] = a[k] + 1;
}
