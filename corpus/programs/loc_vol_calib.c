/* LocVolCalib (a benchmark of FinPar and of Futhark): prices of options for many
   strikes, backwards in time by the Crank-Nicolson method. Every strike has a grid of numX by numY
   prices; a step in time is implicit along x, then along y, in tridiagonal systems. Parallelism: the
   strikes; in each of them the rows of the grid; in each row the prices, but where a system is
   solved. */

#include <math.h>

void loc_vol_calib(int outer, int numX, int numY, int numT, double res[restrict outer],
                   double grid[restrict outer][numX][numY], double u[restrict outer][numY][numX],
                   double v[restrict outer][numX][numY], double b[restrict outer][numY][numX],
                   double c[restrict outer][numX][numY], double s0, double t, double alpha,
                   double nu, double beta)
{
  for (int o = 0; o < outer; o++) {
    double strike = 0.001 * o;
    double dx = 20.0 * alpha * s0 * sqrt(t) / numX, dy = 10.0 * nu * sqrt(t) / numY;
    double lnAlpha = log(alpha);

    for (int i = 0; i < numX; i++)
      for (int j = 0; j < numY; j++)
        grid[o][i][j] = i * dx > strike ? i * dx - strike : 0.0;

    for (int g = numT - 2; g >= 0; g--) {
      double now = t * g / (numT - 1), dtInv = (numT - 1) / t;

      for (int j = 0; j < numY; j++) /* explicit along x */
        for (int i = 0; i < numX; i++) {
          double x = i * dx + 0.01, z = (j - numY / 2) * dy + lnAlpha;
          double va = exp(2 * (beta * log(x) + z - 0.5 * nu * nu * now)) * 0.25 / (dx * dx);
          double below = i > 0 ? grid[o][i - 1][j] : 0.0;
          double above = i < numX - 1 ? grid[o][i + 1][j] : 0.0;
          u[o][j][i] = dtInv * grid[o][i][j] + va * (below - 2 * grid[o][i][j] + above);
        }

      for (int i = 0; i < numX; i++) /* explicit along y */
        for (int j = 0; j < numY; j++) {
          double w = 0.5 * nu * nu / (dy * dy);
          double below = j > 0 ? grid[o][i][j - 1] : 0.0;
          double above = j < numY - 1 ? grid[o][i][j + 1] : 0.0;
          v[o][i][j] = w * (below - 2 * grid[o][i][j] + above);
          u[o][j][i] += v[o][i][j];
        }

      for (int j = 0; j < numY; j++) { /* implicit along x: a system for each row */
        double left = 0.0;
        for (int i = 0; i < numX; i++) {
          double x = i * dx + 0.01, z = (j - numY / 2) * dy + lnAlpha;
          double va = exp(2 * (beta * log(x) + z - 0.5 * nu * nu * now)) * 0.25 / (dx * dx);
          double f = i > 0 ? -va / b[o][j][i - 1] : 0.0;
          b[o][j][i] = dtInv + 2 * va + f * left;
          if (i > 0)
            u[o][j][i] -= f * u[o][j][i - 1];
          left = va;
        }
        for (int i = numX - 1; i >= 0; i--) {
          double x = i * dx + 0.01, z = (j - numY / 2) * dy + lnAlpha;
          double va = exp(2 * (beta * log(x) + z - 0.5 * nu * nu * now)) * 0.25 / (dx * dx);
          if (i < numX - 1)
            u[o][j][i] += va * u[o][j][i + 1];
          u[o][j][i] /= b[o][j][i];
        }
      }

      for (int i = 0; i < numX; i++) { /* implicit along y */
        double w = 0.25 * nu * nu / (dy * dy);
        for (int j = 0; j < numY; j++) {
          double f = j > 0 ? -w / c[o][i][j - 1] : 0.0;
          c[o][i][j] = dtInv + 2 * w + f * w;
          grid[o][i][j] = dtInv * u[o][j][i] - 0.5 * v[o][i][j];
          if (j > 0)
            grid[o][i][j] -= f * grid[o][i][j - 1];
        }
        for (int j = numY - 1; j >= 0; j--) {
          if (j < numY - 1)
            grid[o][i][j] += w * grid[o][i][j + 1];
          grid[o][i][j] /= c[o][i][j];
        }
      }
    }
    if (numX > 0 && numY > 0)
      res[o] = grid[o][numX / 2][numY / 2];
  }
}
