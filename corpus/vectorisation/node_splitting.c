/* Node splitting: a ring of dependences that one extra copy of what is read would break. */

void average_ahead(int n, double a[n + 1], double b[n], const double c[n])
{
  for (int i = 0; i < n; i++) { /* no: anti of a, distance 1 */
    b[i] = (a[i] + a[i + 1]) / 2;
    a[i] = c[i] * 2;
  }
}

/* A ring: the first statement needs the second of the iteration before, the second the old value
   that the first of the next iteration overwrites. */
void ring(int n, double a[n + 1], double b[n])
{
  for (int i = 1; i < n; i++) { /* no: flow of b, distance 1 */
    a[i] = b[i - 1] + 1;
    b[i] = a[i] * a[i + 1];
  }
}

/* With the copy in a loop of its own, nothing is left to break. */
void average_ahead_split(int n, double a[n + 1], double b[n], double old[n], const double c[n])
{
  for (int i = 0; i < n; i++) /* yes */
    old[i] = a[i + 1];
  for (int i = 0; i < n; i++) { /* no: flow of a, distance 1 */
    a[i + 1] = c[i] * 2;
    b[i] = (a[i] + old[i]) / 2;
  }
}

/* Reading old values only, from behind and from ahead of the one written. */
void three_old_values(int n, double a[n], double b[n], double c[n])
{
  for (int i = 2; i + 1 < n; i++) { /* no: flow of a, distance 2 */
    c[i] = a[i - 2] + b[i];
    a[i] = b[i - 1] * b[i + 1];
  }
}
