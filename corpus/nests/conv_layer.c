/* A convolution layer: n images, co output channels, and a sum over ci input channels and a K x K
   window. */

#define K 3

void conv_layer(int n, int co, int ci, int h, int w, const float x[n][ci][h + K - 1][w + K - 1],
                const float f[co][ci][K][K], const float bias[co], float y[n][co][h][w])
{
  for (int b = 0; b < n; b++)
    for (int o = 0; o < co; o++)
      for (int r = 0; r < h; r++)
        for (int s = 0; s < w; s++) {
          float acc = bias[o];
          for (int c = 0; c < ci; c++)
            for (int p = 0; p < K; p++)
              for (int q = 0; q < K; q++)
                acc += f[o][c][p][q] * x[b][c][r + p][s + q];
          y[b][o][r][s] = acc > 0.0f ? acc : 0.0f;
        }
}
