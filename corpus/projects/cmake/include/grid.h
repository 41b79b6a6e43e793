#ifndef GRID_H
#define GRID_H

#ifndef GRID
#define GRID 96
#endif

typedef double field[GRID][GRID];

void heat_step(int rounds, field now, field next);
void wave_step(field next, field now, field before);

#endif
