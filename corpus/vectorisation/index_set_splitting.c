/* Index-set splitting: some iterations are different from the others, and the loop would fall into
   parts that are the same all through. */

/* The first iteration reads its boundary from the last element, which no other one writes. */
void apart_from_the_first(int n, double out[n], const double in[n])
{
  for (int i = 0; i < n; i++) { /* yes */
    if (i == 0)
      out[i] = in[n - 1];
    else
      out[i] = in[i - 1];
  }
}

/* In front of the middle one formula, behind it another; they do not meet. */
void two_regimes(int n, int middle, double a[n], const double b[n])
{
  for (int i = 0; i < n; i++) { /* yes */
    if (i < middle)
      a[i] = a[i] * b[i];
    else
      a[i] = a[i] + b[i];
  }
}

/* Behind the middle every element is made from the mirrored one in front of it. */
void mirror_half(int n, double a[2 * n])
{
  for (int i = 0; i < 2 * n; i++) /* no: flow of a */
    if (i < n)
      a[i] = i;
    else
      a[i] = a[2 * n - 1 - i];
}

/* The two parts of it, each without a dependence. */
void mirror_half_split(int n, double a[2 * n])
{
  for (int i = 0; i < n; i++) /* yes */
    a[i] = i;
  for (int i = n; i < 2 * n; i++) /* yes */
    a[i] = a[2 * n - 1 - i];
}

/* The boundary of a grid is set apart from what is inside. */
void frame(int n, int m, double grid[n][m], double old[n][m])
{
  for (int i = 0; i < n; i++)   /* yes */
    for (int j = 0; j < m; j++) /* yes */
      if (i == 0 || j == 0 || i == n - 1 || j == m - 1)
        grid[i][j] = 0;
      else
        grid[i][j] = (old[i - 1][j] + old[i + 1][j] + old[i][j - 1] + old[i][j + 1]) / 4;
}

/* The chain starts behind element 5, and goes on to the end. */
void chain_behind(int n, double a[n], const double b[n])
{
  for (int i = 0; i < n; i++) { /* no: flow of a, distance 1 */
    if (i > 5)
      a[i] = a[i - 1] + b[i];
    else
      a[i] = b[i];
  }
}
