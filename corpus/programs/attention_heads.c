/* Attention of several heads, in three nests that pass scores on: products of queries and keys, the
   softmax of each row of scores in place, and products of these weights and the values. */

#include <math.h>

void attention_heads(int heads, int n, int width, const float q[restrict heads][n][width],
                     const float k[restrict heads][n][width],
                     const float v[restrict heads][n][width], float weight[restrict heads][n][n],
                     float out[restrict heads][n][width])
{
  float scale = 1 / sqrtf(width);
  for (int h = 0; h < heads; h++)
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) {
        float score = 0;
        for (int d = 0; d < width; d++)
          score += q[h][i][d] * k[h][j][d];
        weight[h][i][j] = score * scale;
      }
  for (int h = 0; h < heads; h++)
    for (int i = 0; i < n; i++) {
      float most = weight[h][i][0], sum = 0;
      for (int j = 1; j < n; j++)
        if (weight[h][i][j] > most)
          most = weight[h][i][j];
      for (int j = 0; j < n; j++) {
        weight[h][i][j] = expf(weight[h][i][j] - most);
        sum += weight[h][i][j];
      }
      for (int j = 0; j < n; j++)
        weight[h][i][j] /= sum;
    }
  for (int h = 0; h < heads; h++)
    for (int i = 0; i < n; i++)
      for (int d = 0; d < width; d++) {
        float total = 0;
        for (int j = 0; j < n; j++)
          total += weight[h][i][j] * v[h][j][d];
        out[h][i][d] = total;
      }
}
