#include "matrix.h"

void product(float c[SIDE][SIDE], float a[SIDE][SIDE], float b[SIDE][SIDE])
{
  for (int i = 0; i < SIDE; i++)
    for (int j = 0; j < SIDE; j++) {
      c[i][j] = 0;
      for (int k = 0; k < SIDE; k++)
        c[i][j] += a[i][k] * b[k][j];
    }
}
