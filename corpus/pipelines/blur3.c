/* The mean of three pixels downwards, then across, of each plane of an image. */

void blur3(int planes, int h, int w, const float in[planes][h + 2][w + 2],
           float out[planes][h][w])
{
  float v[planes][h][w + 2];
  for (int c = 0; c < planes; c++)
    for (int y = 0; y < h; y++)
      for (int x = 0; x < w + 2; x++)
        v[c][y][x] = (in[c][y][x] + in[c][y + 1][x] + in[c][y + 2][x]) / 3;
  for (int c = 0; c < planes; c++)
    for (int y = 0; y < h; y++)
      for (int x = 0; x < w; x++)
        out[c][y][x] = (v[c][y][x] + v[c][y][x + 1] + v[c][y][x + 2]) / 3;
}
