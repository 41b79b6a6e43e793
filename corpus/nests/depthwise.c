/* Each channel of each image convolved with 3 x 3 weights of its own, as mobile networks do. */

void depthwise(int n, int c, int h, int w, const float in[n][c][h + 2][w + 2],
               const float weight[c][3][3], float out[n][c][h][w])
{
  for (int b = 0; b < n; b++)
    for (int k = 0; k < c; k++)
      for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
          float sum = 0;
          for (int v = 0; v < 3; v++)
            for (int u = 0; u < 3; u++)
              sum += in[b][k][y + v][x + u] * weight[k][v][u];
          out[b][k][y][x] = sum;
        }
}
