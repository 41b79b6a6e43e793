/* The transpose of a product is the product of the transposes in the other order; all numbers are
 * small integers, so that floats are exact. */

#include <stdio.h>
#include <string.h>
#include "matrix.h"

typedef float square[SIDE][SIDE];

static square a, b, ab, abt, at, bt, btat;

int main(void)
{
  for (int i = 0; i < SIDE; i++)
    for (int j = 0; j < SIDE; j++) {
      a[i][j] = (float)((i * 5 + j * 3) % 7);
      b[i][j] = (float)((i + j * j) % 9);
    }

  product(ab, a, b);
  transpose(abt, ab);
  transpose(at, a);
  transpose(bt, b);
  product(btat, bt, at);

  int plain = 1;
  for (int i = 0; i < SIDE; i++)
    for (int j = 0; j < SIDE; j++) {
      float sum = 0;
      for (int k = 0; k < SIDE; k++)
        sum += a[i][k] * b[k][j];
      plain &= sum == ab[i][j];
    }

  int same = plain && memcmp(abt, btat, sizeof abt) == 0;
  printf("%d x %d elements: %s\n", SIDE, SIDE, same ? "the same" : "different");
  return !same;
}
