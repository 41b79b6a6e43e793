/* Nontrivial gotos: jumps inside the body, to its end, out of it and back. */

/* Over one of two statements. */
void skip_one(int n, double out[n], const double x[n])
{
  for (int i = 0; i < n; i++) { /* yes */
    if (x[i] < 0)
      goto negative;
    out[i] = x[i];
    goto done;
  negative:
    out[i] = -x[i];
  done:;
  }
}

/* To the end of the body, as `continue` would. */
void skip_rest(int n, double out[n], const double x[n])
{
  for (int i = 0; i < n; i++) { /* yes */
    if (x[i] == 0)
      goto next;
    out[i] = 1 / x[i];
  next:;
  }
}

/* Over the statement that starts the chain. */
void skip_start(int n, double a[n], const double x[n])
{
  for (int i = 1; i < n; i++) { /* no: flow of a, distance 1 */
    a[i] = a[i - 1] + 1;
    if (x[i] < 0)
      goto end;
    a[i] += x[i];
  end:;
  }
}

/* Into the other branch. */
void joined_branches(int n, double out[n], const double x[n], const double y[n])
{
  for (int i = 0; i < n; i++) { /* yes */
    if (x[i] > 3)
      goto large;
    out[i] = y[i];
    if (y[i] > 3)
      goto end;
  large:
    out[i] = x[i] + y[i];
  end:;
  }
}

/* Out of two loops at once. */
int find_in_grid(int n, int m, double g[n][m], double wanted)
{
  int at = -1;
  for (int i = 0; i < n; i++)   /* no (unknown): control */
    for (int j = 0; j < m; j++) /* no (unknown): control */
      if (g[i][j] == wanted) {
        at = i * m + j;
        goto found;
      }
found:
  return at;
}

/* Back, until a value is small enough: each element on its own. */
void halve_until_small(int n, double x[n])
{
  for (int i = 0; i < n; i++) { /* yes (unknown) */
  again:
    if (x[i] > 1) {
      x[i] = x[i] / 2;
      goto again;
    }
  }
}
