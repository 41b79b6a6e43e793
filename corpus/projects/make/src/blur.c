/* The mean of 3 x 3 pixels; the border stays as it is. */

#include "image.h"

void blur(int height, unsigned char out[][WIDTH], unsigned char in[][WIDTH])
{
  for (int y = 1; y < height - 1; y++)
    for (int x = 1; x < WIDTH - 1; x++) {
      int sum = 0;
      for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
          sum += in[y + dy][x + dx];
      out[y][x] = sum / 9;
    }
}
