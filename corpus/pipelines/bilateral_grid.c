/* Smooths an image but for its edges (Chen, Paris and Durand, "Real-time edge-aware image processing
   with the bilateral grid", 2007): pixels are summed up in cells of 8 x 8 pixels by their brightness, the
   sums are blurred, and each pixel takes what there is at its place and brightness. */

#define AT(i, n) ((i) < 0 ? 0 : (i) > (n) - 1 ? (n) - 1 : (i))
#define GH ((h - 1) / 8 + 6)
#define GW ((w - 1) / 8 + 6)
#define BLUR(a, b, c, d, e) (((a) + (e) + 4 * ((b) + (d)) + 6 * (c)) * 0.0625f)

void bilateral_grid(int h, int w, const float in[h][w], float out[h][w])
{
  float sum[16][GH][GW], count[16][GH][GW];
  float sum_z[12][GH][GW], count_z[12][GH][GW], sum_x[12][GH][GW], count_x[12][GH][GW];
  float sum_y[12][GH][GW], count_y[12][GH][GW];
  if (h > 0 && w > 0)
    for (int y = 0; y < GH; y++)
      for (int x = 0; x < GW; x++) {
        for (int z = 0; z < 16; z++) {
          sum[z][y][x] = 0;
          count[z][y][x] = 0;
        }
        for (int j = 0; j < 8; j++)
          for (int i = 0; i < 8; i++) {
            float v = in[AT(8 * y - 20 + j, h)][AT(8 * x - 20 + i, w)];
            v = v < 0 ? 0 : v > 1 ? 1 : v;
            int z = (int)(v * 10 + 0.5f) + 2;
            sum[z][y][x] += v;
            count[z][y][x] += 1;
          }
      }
  for (int z = 0; z < 12; z++)
    for (int y = 0; y < GH; y++)
      for (int x = 0; x < GW; x++)
        sum_z[z][y][x] = BLUR(sum[z][y][x], sum[z + 1][y][x], sum[z + 2][y][x], sum[z + 3][y][x],
                              sum[z + 4][y][x]);
  for (int z = 0; z < 12; z++)
    for (int y = 0; y < GH; y++)
      for (int x = 0; x < GW; x++)
        count_z[z][y][x] = BLUR(count[z][y][x], count[z + 1][y][x], count[z + 2][y][x],
                                count[z + 3][y][x], count[z + 4][y][x]);
  for (int z = 0; z < 12; z++)
    for (int y = 0; y < GH; y++)
      for (int x = 2; x < GW - 2; x++)
        sum_x[z][y][x] = BLUR(sum_z[z][y][x - 2], sum_z[z][y][x - 1], sum_z[z][y][x],
                              sum_z[z][y][x + 1], sum_z[z][y][x + 2]);
  for (int z = 0; z < 12; z++)
    for (int y = 0; y < GH; y++)
      for (int x = 2; x < GW - 2; x++)
        count_x[z][y][x] = BLUR(count_z[z][y][x - 2], count_z[z][y][x - 1], count_z[z][y][x],
                                count_z[z][y][x + 1], count_z[z][y][x + 2]);
  for (int z = 0; z < 12; z++)
    for (int y = 2; y < GH - 2; y++)
      for (int x = 2; x < GW - 2; x++)
        sum_y[z][y][x] = BLUR(sum_x[z][y - 2][x], sum_x[z][y - 1][x], sum_x[z][y][x],
                              sum_x[z][y + 1][x], sum_x[z][y + 2][x]);
  for (int z = 0; z < 12; z++)
    for (int y = 2; y < GH - 2; y++)
      for (int x = 2; x < GW - 2; x++)
        count_y[z][y][x] = BLUR(count_x[z][y - 2][x], count_x[z][y - 1][x], count_x[z][y][x],
                                count_x[z][y + 1][x], count_x[z][y + 2][x]);
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++) {
      float v = in[y][x];
      v = v < 0 ? 0 : v > 1 ? 1 : v;
      int z = (int)(v * 10);
      float a = v * 10 - z, b = y % 8 * 0.125f, c = x % 8 * 0.125f;
      float s = (1 - a) * ((1 - b) * ((1 - c) * sum_y[z][y / 8 + 2][x / 8 + 2]
                                      + c * sum_y[z][y / 8 + 2][x / 8 + 3])
                           + b * ((1 - c) * sum_y[z][y / 8 + 3][x / 8 + 2]
                                  + c * sum_y[z][y / 8 + 3][x / 8 + 3]))
                + a * ((1 - b) * ((1 - c) * sum_y[z + 1][y / 8 + 2][x / 8 + 2]
                                  + c * sum_y[z + 1][y / 8 + 2][x / 8 + 3])
                       + b * ((1 - c) * sum_y[z + 1][y / 8 + 3][x / 8 + 2]
                              + c * sum_y[z + 1][y / 8 + 3][x / 8 + 3]));
      float n = (1 - a) * ((1 - b) * ((1 - c) * count_y[z][y / 8 + 2][x / 8 + 2]
                                      + c * count_y[z][y / 8 + 2][x / 8 + 3])
                           + b * ((1 - c) * count_y[z][y / 8 + 3][x / 8 + 2]
                                  + c * count_y[z][y / 8 + 3][x / 8 + 3]))
                + a * ((1 - b) * ((1 - c) * count_y[z + 1][y / 8 + 2][x / 8 + 2]
                                  + c * count_y[z + 1][y / 8 + 2][x / 8 + 3])
                       + b * ((1 - c) * count_y[z + 1][y / 8 + 3][x / 8 + 2]
                              + c * count_y[z + 1][y / 8 + 3][x / 8 + 3]));
      out[y][x] = s / n;
    }
}
