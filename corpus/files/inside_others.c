/* Loops in branches without braces, in while loops that look at data, after labels, behind early
   returns; `else` around them; declarations between them; numbers that come and go. */
#include <math.h>
#include <stdio.h>
#define N 60
#define SQUARE(x) ((x) * (x))

static int relax(double tol, double u[N][N], double v[N][N])
{
  int rounds = 0;
  double err = 1;
  if (tol <= 0)
    return -1;
  while (err > tol && rounds < 40) {
    err = 0;
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < N - 1; j++)
        v[i][j] = 0.25 * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1]);
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < N - 1; j++)
        err = fmax(err, fabs(v[i][j] - u[i][j]));
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < N - 1; j++)
        u[i][j] = v[i][j];
    rounds++;
  }
  return rounds;
}

static void choose(int which, int n, double *x)
{
  if (which == 0)
    for (int i = 0; i < n; i++)
      x[i] = SQUARE(i);
  else if (which == 1)
    for (int i = 0; i < n; i++) x[i] = -x[i]; /* on one line */
  else {
    double t = which;
    printf("t %g\n", t);
    for (int i = 0; i < n; i++)
      x[i] += t * i;
  }
  if (which) { if (n > 3) for (int i = 0; i < n; i++) x[i] += 1; else printf("short\n"); }
}

int main(void)
{
  static double u[N][N], v[N][N];
  double x[N], s = 0;
  int tries = 0;
  for (int i = 0; i < N; i++)
    u[0][i] = u[i][0] = i;
  printf("%d\n", relax(1e-3, u, v));
again:
  for (int i = 0; i < N; i++)
    x[i] = i + tries;
  for (int k = 0; k < 4; k++)
    choose(k, k == 2 ? 3 : N, x);
  for (int i = 0; i < N; i++)
    s += x[i] * u[i][(i * 7) % N];
  printf("%.17g\n", s);
  if (++tries < 3)
    goto again;
  return 0;
}
