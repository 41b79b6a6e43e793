/* Loops that data end: in a function that returns a number, around prints, in main. */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define N 48
#define SMALL 1e-3

static double grid[N][N], next[N][N];

/* The number of sweeps until nothing changes by more than `most`. */
static int relax(double most, int limit)
{
  int sweeps = 0;
  double change;
  do {
    change = 0;
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < N - 1; j++)
        next[i][j] = 0.25 * (grid[i - 1][j] + grid[i + 1][j] + grid[i][j - 1] + grid[i][j + 1]);
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < N - 1; j++) {
        change = fmax(change, fabs(next[i][j] - grid[i][j]));
        grid[i][j] = next[i][j];
      }
  } while (change > most && ++sweeps < limit);
  return sweeps;
}

/* Bubbles until everything is in order; odd and even neighbours in turn. */
static void sorted(int n, int *restrict x, int *restrict rounds)
{
  int moved = 1, r = 0;
  printf("sorting %d\n", n);
  while (moved) {
    moved = 0;
    for (int i = 0; i < N - 1; i += 2)
      if (x[i] > x[i + 1]) {
        int t = x[i];
        x[i] = x[i + 1];
        x[i + 1] = t;
        moved = 1;
      }
    for (int i = 1; i < N - 1; i += 2)
      if (x[i] > x[i + 1]) {
        int t = x[i];
        x[i] = x[i + 1];
        x[i + 1] = t;
        moved = 1;
      }
    r++;
  }
  printf("sorted\n");
  rounds[0] = r;
}

int main(void)
{
  static int x[N];
  int rounds = 0, k;
  float decay[N];
  for (int i = 0; i < N; i++) {
    grid[0][i] = i % 7;
    grid[i][0] = 3;
    x[i] = (i * 31 + 5) % N;
    decay[i] = 1.0f + i;
  }
  printf("%d sweeps\n", relax(SMALL, 1000));
  sorted(N, x, &rounds);
  printf("%d rounds, %d %d %d\n", rounds, x[0], x[1], x[N - 1]);
  for (k = 0; k < 100; k++) {
    float largest = 0;
    for (int i = 0; i < N; i++)
      decay[i] *= 0.5f;
    for (int i = 0; i < N; i++)
      if (decay[i] > largest)
        largest = decay[i];
    if (largest < 0.125f)
      break;
  }
  printf("%d halvings, %g\n", k, decay[3]);
  for (int i = 0; i < N; i += 5)
    printf("%.17g ", grid[i][i]);
  printf("\n");
  return 0;
}
