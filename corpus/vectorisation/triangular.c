/* Triangular nests: the bound of one loop is another's variable. */

/* Below the diagonal from above it: no element is both. */
void mirror_down(int n, double g[n][n])
{
  for (int i = 0; i < n; i++)   /* yes */
    for (int j = 0; j < i; j++) /* yes */
      g[i][j] = g[j][i];
}

/* In the whole square an element is read in one iteration and written in another. */
void mirror_all(int n, double g[n][n])
{
  for (int i = 0; i < n; i++)   /* no: flow of g */
    for (int j = 0; j < n; j++) /* yes */
      g[i][j] = g[j][i];
}

void swap_triangles(int n, double g[n][n])
{
  for (int i = 0; i < n; i++)         /* yes */
    for (int j = i + 1; j < n; j++) { /* yes */
      double held = g[i][j];
      g[i][j] = g[j][i];
      g[j][i] = held;
    }
}

/* Forward substitution by rows. */
void solve_lower(int n, double l[n][n], double x[n])
{
  for (int i = 0; i < n; i++) { /* no: flow of x */
    for (int j = 0; j < i; j++) /* reduction + of x */
      x[i] -= l[i][j] * x[j];
    x[i] = x[i] / l[i][i];
  }
}

/* The same by columns. */
void solve_lower_by_columns(int n, double l[n][n], double x[n])
{
  for (int j = 0; j < n; j++) { /* no: flow of x */
    x[j] = x[j] / l[j][j];
    for (int i = j + 1; i < n; i++) /* yes */
      x[i] -= l[i][j] * x[j];
  }
}

/* An elimination without a choice of rows. */
void eliminate(int n, double a[n][n])
{
  for (int k = 0; k < n; k++)         /* no: flow of a */
    for (int i = k + 1; i < n; i++) { /* yes */
      a[i][k] = a[i][k] / a[k][k];
      for (int j = k + 1; j < n; j++) /* yes */
        a[i][j] -= a[i][k] * a[k][j];
    }
}

/* All pairs, each counted once for both. */
void pair_forces(int n, double force[n], double f[n][n])
{
  for (int i = 0; i < n; i++)         /* reduction + of force */
    for (int j = i + 1; j < n; j++) { /* reduction + of force */
      force[i] += f[i][j];
      force[j] -= f[i][j];
    }
}

/* Rows of growing length in one array, counted through. */
void pack_triangle(int n, double packed[n * n], double g[n][n])
{
  int at = 0;
  for (int i = 0; i < n; i++)      /* no: flow of at */
    for (int j = 0; j <= i; j++) { /* no: flow of at */
      packed[at] = g[i][j];
      at++;
    }
}
