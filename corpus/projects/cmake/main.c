/* Runs both fields, and compares them with what the same files do as plain C. */

#include <stdio.h>
#include <string.h>
#include "grid.h"

#define heat_step plain_heat_step
#define wave_step plain_wave_step
#include "heat/step.c"
#include "wave/step.c"
#undef heat_step
#undef wave_step

static field a[2], b[2], c[2];

static int same(field x[2])
{
  return memcmp(x[0], x[1], sizeof x[0]) == 0;
}

int main(void)
{
  for (int n = 0; n < 2; n++)
    for (int i = 0; i < GRID; i++)
      for (int j = 0; j < GRID; j++) {
        a[n][i][j] = (i * 5 + j * 3) % 17;
        b[n][i][j] = (i + j * 7) % 13;
        c[n][i][j] = 0;
      }

  heat_step(4, a[0], b[0]);
  wave_step(c[0], a[0], b[0]);
  plain_heat_step(4, a[1], b[1]);
  plain_wave_step(c[1], a[1], b[1]);

  int ok = same(a) && same(b) && same(c);
  printf("%d x %d points: %s\n", GRID, GRID, ok ? "the same" : "different");
  return !ok;
}
