#include "image.h"

void threshold(int height, int limit, unsigned char image[][WIDTH])
{
  for (int y = 0; y < height; y++)
    for (int x = 0; x < WIDTH; x++)
      image[y][x] = image[y][x] < limit ? 0 : 255;
}
