/* One step of the wave equation; the factors are powers of two, so that fusing changes nothing. */

#include "grid.h"

void wave_step(field next, field now, field before)
{
  for (int i = 1; i < GRID - 1; i++)
    for (int j = 1; j < GRID - 1; j++) {
      double around = now[i - 1][j] + now[i + 1][j] + now[i][j - 1] + now[i][j + 1];
      next[i][j] = now[i][j] - before[i][j] + around * 0.25;
    }
}
