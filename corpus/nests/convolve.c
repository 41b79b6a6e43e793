/* Convolution with a K x K window that is known at run time. */

void convolve(int h, int w, int K, const float in[h + K - 1][w + K - 1], const float f[K][K],
              float out[h][w])
{
  for (int i = 0; i < h; i++)
    for (int j = 0; j < w; j++) {
      float sum = 0.0f;
      for (int p = 0; p < K; p++)
        for (int q = 0; q < K; q++)
          sum += f[p][q] * in[i + p][j + q];
      out[i][j] = sum;
    }
}
