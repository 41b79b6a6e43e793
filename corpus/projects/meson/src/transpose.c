#include "matrix.h"

void transpose(float out[SIDE][SIDE], float in[SIDE][SIDE])
{
  for (int i = 0; i < SIDE; i++)
    for (int j = 0; j < SIDE; j++)
      out[j][i] = in[i][j];
}
