/* Filters an image, and compares it with what the same files do as plain C. */

#include <stdio.h>
#include <string.h>
#include "image.h"

#define blur plain_blur
#define threshold plain_threshold
#include "blur.c"
#include "threshold.c"
#undef blur
#undef threshold

#define HEIGHT 150

static unsigned char image[HEIGHT][WIDTH], filtered[HEIGHT][WIDTH], expected[HEIGHT][WIDTH];

int main(void)
{
  for (int y = 0; y < HEIGHT; y++)
    for (int x = 0; x < WIDTH; x++)
      image[y][x] = (unsigned char)(x * 7 + y * y * 3);
  memcpy(filtered, image, sizeof image);
  memcpy(expected, image, sizeof image);

  blur(HEIGHT, filtered, image);
  threshold(HEIGHT, 100, filtered);
  plain_blur(HEIGHT, expected, image);
  plain_threshold(HEIGHT, 100, expected);

  int same = memcmp(filtered, expected, sizeof expected) == 0;
  printf("%d x %d pixels: %s\n", HEIGHT, WIDTH, same ? "the same" : "different");
  return !same;
}
