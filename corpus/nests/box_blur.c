/* Box blur of a colour image, pixels of three interleaved bytes, radius R. */

#define R 2

void box_blur(int h, int w, unsigned char in[h + 2 * R][w + 2 * R][3], unsigned char out[h][w][3])
{
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++)
      for (int c = 0; c < 3; c++) {
        unsigned sum = 0;
        for (int dy = 0; dy <= 2 * R; dy++)
          for (int dx = 0; dx <= 2 * R; dx++)
            sum += in[y + dy][x + dx][c];
        out[y][x][c] = sum / ((2 * R + 1) * (2 * R + 1));
      }
}
