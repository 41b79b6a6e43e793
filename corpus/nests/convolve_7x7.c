/* Convolution of a grey image with a 7 x 7 window of integer weights. */

#define W 7

static const int weight[W][W] = {
  {0, 0, 1, 2, 1, 0, 0},
  {0, 3, 13, 22, 13, 3, 0},
  {1, 13, 59, 97, 59, 13, 1},
  {2, 22, 97, 159, 97, 22, 2},
  {1, 13, 59, 97, 59, 13, 1},
  {0, 3, 13, 22, 13, 3, 0},
  {0, 0, 1, 2, 1, 0, 0},
};

void convolve_7x7(int h, int w, const unsigned char in[h + W - 1][w + W - 1], int out[h][w])
{
  for (int i = 0; i < h; i++)
    for (int j = 0; j < w; j++) {
      int sum = 0;
      for (int p = 0; p < W; p++)
        for (int q = 0; q < W; q++)
          sum += weight[p][q] * in[i + p][j + q];
      out[i][j] = sum / 1003;
    }
}
