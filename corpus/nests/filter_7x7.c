/* A 7 x 7 filter with weights of the caller's. */

void filter_7x7(int h, int w, const float in[h + 6][w + 6], const float weight[7][7],
                float out[h][w])
{
  for (int i = 0; i < h; i++)
    for (int j = 0; j < w; j++) {
      float sum = 0;
      for (int p = 0; p < 7; p++)
        for (int q = 0; q < 7; q++)
          sum += weight[p][q] * in[i + p][j + q];
      out[i][j] = sum;
    }
}
