/* Loop interchange: which of two loops carries the dependence, and would carry it after. */

/* The inner loop carries: outside it would leave an inner loop without. */
void along_the_rows(int n, int m, double g[n][m], const double rate[n])
{
  for (int i = 0; i < n; i++)   /* yes */
    for (int j = 1; j < m; j++) /* no: flow of g, distance 1 */
      g[i][j] = g[i][j - 1] * rate[i];
}

/* The same with the loops interchanged. */
void along_the_rows_swapped(int n, int m, double g[n][m], const double rate[n])
{
  for (int j = 1; j < m; j++)   /* no: flow of g, distance 1 */
    for (int i = 0; i < n; i++) /* yes */
      g[i][j] = g[i][j - 1] * rate[i];
}

/* Down and to the left: interchanged, the value would be read before it is made. */
void knight(int n, int m, double g[n][m])
{
  for (int i = 1; i < n; i++)       /* no: flow of g, distance 1 */
    for (int j = 0; j + 2 < m; j++) /* yes */
      g[i][j] = g[i - 1][j + 2] + 1;
}

/* Both carry, and both orders are right. */
void both_carry(int n, int m, double g[n][m])
{
  for (int i = 1; i < n; i++)   /* no: flow of g, distance 1 */
    for (int j = 1; j < m; j++) /* no: flow of g, distance 1 */
      g[i][j] = (g[i - 1][j] + g[i][j - 1]) / 2;
}

/* A product of matrices with the loop of the sum in the middle. */
void product_ikj(int n, double c[n][n], double a[n][n], double b[n][n])
{
  for (int i = 0; i < n; i++)     /* yes */
    for (int k = 0; k < n; k++)   /* reduction + of c */
      for (int j = 0; j < n; j++) /* yes */
        c[i][j] += a[i][k] * b[k][j];
}

/* The scalar in between ties the loops together. */
void scaled_rows(int n, int m, double g[n][m], const double factor[n])
{
  double f;
  for (int i = 0; i < n; i++) { /* privatizable f */
    f = factor[i] + 1;
    for (int j = 0; j < m; j++) /* yes */
      g[i][j] = g[i][j] * f;
  }
}

/* Time steps over a line: every step needs the one before, the points of a step do not. */
void diffusion(int steps, int n, double u[n], double v[n])
{
  for (int t = 0; t < steps; t++) { /* no: flow of u */
    for (int i = 1; i + 1 < n; i++) /* yes */
      v[i] = (u[i - 1] + u[i + 1]) / 2;
    for (int i = 1; i + 1 < n; i++) /* yes */
      u[i] = v[i];
  }
}

/* Updated in place, the points of a step need each other as well. */
void relaxation(int steps, int n, double u[n])
{
  for (int t = 0; t < steps; t++)   /* no: flow of u */
    for (int i = 1; i + 1 < n; i++) /* no: flow of u, distance 1 */
      u[i] = (u[i - 1] + u[i + 1]) / 2;
}
