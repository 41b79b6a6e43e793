/* What is not written keeps the caller's values, and what is stored is made narrow as C makes it. */
#include <stdio.h>
#define N 500

static double a[N], b[N];
static unsigned char bytes[N];
static short words[N];
static double grid[20][30];

static void smooth(void)
{
  int i;
  for (i = 1; i < N - 1; i++)
    a[i] = (b[i - 1] + b[i] + b[i + 1]) / 3;
}

static void every_other(int n, int *v)
{
  for (int i = 0; i < n; i += 2)
    v[i] = -i;
}

static void inner(void)
{
  for (int i = 1; i <= 18; i++)
    for (int j = 2; j < 29; j++)
      grid[i][j] = grid[i][j] * 2 + i;
}

static void narrow(int scale)
{
  int i;
  for (i = 0; i < N; i++) {
    bytes[i] = i * scale;
    words[i] = i * i * scale;
  }
}

int main(void)
{
  int i, v[N];
  for (i = 0; i < N; i++) {
    a[i] = 1000 + i;
    b[i] = i % 17;
    v[i] = i;
    grid[i % 20][i % 30] = i;
  }
  smooth();
  every_other(N, v);
  inner();
  narrow(7);
  for (i = 0; i < N; i++)
    printf("%.17g %d %d %d %g\n", a[i], v[i], bytes[i], words[i], grid[i % 20][i % 30]);
  return 0;
}
