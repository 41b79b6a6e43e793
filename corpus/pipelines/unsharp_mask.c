/* Sharpens each plane of an image: what a blur of it takes away is added, where that is enough to be
   seen. */

#include <math.h>

void unsharp_mask(int h, int w, float threshold, float weight, const float in[3][h + 4][w + 4],
                  float out[3][h][w])
{
  float down[3][h][w + 4], blurred[3][h][w], sharp[3][h][w];
  for (int c = 0; c < 3; c++)
    for (int y = 0; y < h; y++)
      for (int x = 0; x < w + 4; x++)
        down[c][y][x] = (in[c][y][x] + 4 * in[c][y + 1][x] + 6 * in[c][y + 2][x]
                         + 4 * in[c][y + 3][x] + in[c][y + 4][x]) * 0.0625f;
  for (int c = 0; c < 3; c++)
    for (int y = 0; y < h; y++)
      for (int x = 0; x < w; x++)
        blurred[c][y][x] = (down[c][y][x] + 4 * down[c][y][x + 1] + 6 * down[c][y][x + 2]
                            + 4 * down[c][y][x + 3] + down[c][y][x + 4]) * 0.0625f;
  for (int c = 0; c < 3; c++)
    for (int y = 0; y < h; y++)
      for (int x = 0; x < w; x++)
        sharp[c][y][x] = in[c][y + 2][x + 2] * (1 + weight) - blurred[c][y][x] * weight;
  for (int c = 0; c < 3; c++)
    for (int y = 0; y < h; y++)
      for (int x = 0; x < w; x++)
        out[c][y][x] = fabsf(in[c][y + 2][x + 2] - blurred[c][y][x]) < threshold
                           ? in[c][y + 2][x + 2] : sharp[c][y][x];
}
