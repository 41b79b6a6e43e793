/* An image twice as large in both directions, by bilinear interpolation. */

void upsample(int h, int w, const float in[h + 1][w + 1], float out[2 * h][2 * w])
{
  for (int i = 0; i < 2 * h; i++)
    for (int j = 0; j < 2 * w; j++) {
      int y = i / 2, x = j / 2;
      float fy = 0.5f * (i % 2), fx = 0.5f * (j % 2);
      float top = (1.0f - fx) * in[y][x] + fx * in[y][x + 1];
      float bottom = (1.0f - fx) * in[y + 1][x] + fx * in[y + 1][x + 1];
      out[i][j] = (1.0f - fy) * top + fy * bottom;
    }
}
