/* Jacobi's iteration for a Poisson problem, until a step changes little or the steps are used up,
   with the number of steps taken; then Newton's iteration for the root of its largest value. */

#include <math.h>

void converging(int n, int most, double small, double f[n][n], double u[n][n], double next[n][n],
                double result[2])
{
  double change = 2 * small, largest = 0, root = 1, before = 0;
  int steps;
  for (steps = 0; steps < most && change > small; steps++) {
    change = 0;
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        next[i][j] = 0.25 * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1] - f[i][j]);
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++) {
        change = fmax(change, fabs(next[i][j] - u[i][j]));
        u[i][j] = next[i][j];
      }
  }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      largest = fmax(largest, fabs(u[i][j]));
  while (fabs(root - before) > small) {
    before = root;
    root = 0.5 * (root + largest / root);
  }
  result[0] = steps;
  result[1] = root;
}
