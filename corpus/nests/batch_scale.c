/* A different scale for every sample and channel: products of values along the last axis. */

void batch_scale(int n, int c, int l, int u, const float x[n][c][u], const float w[n][l][u],
                 float y[n][c][l])
{
  for (int b = 0; b < n; b++)
    for (int i = 0; i < c; i++)
      for (int j = 0; j < l; j++) {
        float p = 1.0f;
        for (int k = 0; k < u; k++)
          p *= x[b][i][k] + w[b][j][k];
        y[b][i][j] = p;
      }
}
