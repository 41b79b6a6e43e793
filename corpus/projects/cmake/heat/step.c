/* Heat that spreads, in rounds of two: from now to next, and back. */

#include "grid.h"

void heat_step(int rounds, field now, field next)
{
  for (int t = 0; t < rounds; t++) {
    for (int i = 1; i < GRID - 1; i++)
      for (int j = 1; j < GRID - 1; j++)
        next[i][j] = (now[i - 1][j] + now[i + 1][j] + now[i][j - 1] + now[i][j + 1]) * 0.25;
    for (int i = 1; i < GRID - 1; i++)
      for (int j = 1; j < GRID - 1; j++)
        now[i][j] = (next[i - 1][j] + next[i + 1][j] + next[i][j - 1] + next[i][j + 1]) * 0.25;
  }
}
