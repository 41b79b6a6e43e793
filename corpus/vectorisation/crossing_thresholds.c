/* Crossing thresholds: one subscript rises and the other falls, and they meet in the middle. */

void reverse_into_itself(int n, double a[n])
{
  for (int i = 0; i < n; i++) /* no: anti of a */
    a[i] = a[n - 1 - i] + 1;
}

/* Half of the way: those written and those read lie on different sides of the middle. */
void fold_halfway(int n, double a[2 * n])
{
  for (int i = 0; i < n; i++) /* yes */
    a[i] = a[2 * n - 1 - i] + a[i];
}

/* A swap of both ends, up to the middle. */
void swap_ends(int n, double a[n])
{
  for (int i = 0; i < n / 2; i++) { /* yes */
    double end = a[n - 1 - i];
    a[n - 1 - i] = a[i];
    a[i] = end;
  }
}

/* One element beyond the middle the swap starts to undo itself. */
void swap_too_far(int n, double a[n])
{
  for (int i = 0; i <= n / 2; i++) { /* no: output of a */
    double end = a[n - 1 - i];
    a[n - 1 - i] = a[i];
    a[i] = end;
  }
}

/* The middle is an argument: only its own iteration reads the element that it writes. */
void around(int n, int middle, double a[n])
{
  for (int i = 0; i < n; i++) /* yes */
    if (i <= middle && 2 * middle - i < n)
      a[2 * middle - i] = a[i];
}

/* Elements past a threshold are read only: none below it depends on another. */
void borrow_from_above(int n, double a[2 * n])
{
  for (int i = 0; i < n; i++) /* yes */
    a[i] = a[i + n] - a[2 * n - 1 - i];
}

/* i and n - i swap the rows, the columns go with them. */
void symmetric_rows(int n, int m, double g[n][m])
{
  for (int i = 0; i < n; i++)   /* no: anti of g */
    for (int j = 0; j < m; j++) /* yes */
      g[i][j] = g[n - 1 - i][j] * 2;
}
