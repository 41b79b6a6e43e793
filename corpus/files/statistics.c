/* Values that functions return, printing between nests, memory allocated in main, numbers that are
   declared outside of the loops that set them. */
#include <stdio.h>
#include <stdlib.h>

static double mean(int n, const double *x)
{
  double s = 0;
  int i;
  for (i = 0; i < n; i++)
    s += x[i];
  return s / n;
}

static int above(int n, const double *x, double level, int *mark)
{
  int i, count = 0;
  for (i = 0; i < n; i++)
    mark[i] = x[i] > level;
  for (i = 0; i < n; i++)
    count += mark[i];
  return count;
}

int main(int argc, char **argv)
{
  int n = argc > 1 ? atoi(argv[1]) : 1000;
  int i, j, last;
  double *x = malloc(n * sizeof *x);
  int *mark = malloc(n * sizeof(int));
  double table[8][9];
  if (x == NULL || mark == NULL)
    return 1;
  for (i = 0; i < n; i++)
    x[i] = (i * 37 % 101) * 0.1 - 3;
  printf("mean %.17g\n", mean(n, x)); /* between two nests */
  for (i = 0; i < 8; i++)
    for (j = 0; j < 9; j++)
      table[i][j] = x[i + j] * (i - j);
  last = i + j;
  printf("above %d, last %d\n", above(n, x, 1.0, mark), last);
  for (i = 0; i < 8; i++)
    for (j = 0; j < 9; j++)
      printf("%.17g ", table[i][j]);
  free(x);
  free(mark);
  return 0;
}
