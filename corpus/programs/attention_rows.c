/* Attention of several heads, a query at a time, with a mask: a query sees the keys up to its own.
   Its scores lie in an array of its own, and their largest is found while they are computed. */

#include <math.h>

void attention_rows(int heads, int n, int width, float scale,
                    const float q[restrict heads][n][width],
                    const float k[restrict heads][n][width],
                    const float v[restrict heads][n][width], float out[restrict heads][n][width])
{
  for (int h = 0; h < heads; h++)
    for (int i = 0; i < n; i++) {
      float weight[n];
      float most = -INFINITY, sum = 0;
      for (int j = 0; j < n; j++) {
        float score = 0;
        for (int d = 0; d < width; d++)
          score += q[h][i][d] * k[h][j][d];
        weight[j] = j <= i ? score * scale : -INFINITY;
        if (weight[j] > most)
          most = weight[j];
      }
      for (int j = 0; j < n; j++) {
        weight[j] = expf(weight[j] - most);
        sum += weight[j];
      }
      for (int d = 0; d < width; d++) {
        float total = 0;
        for (int j = 0; j < n; j++)
          total += weight[j] * v[h][j][d];
        out[h][i][d] = total / sum;
      }
    }
}
