/* Attention of one head: for every query the softmax of its products with all keys weighs the
   values. Parallelism: the queries; for each of them the keys, their largest score and the sum of
   their weights, then the components of the result. */

#include <math.h>

void attention(int queries, int keys, int width, const float q[restrict queries][width],
               const float k[restrict keys][width], const float v[restrict keys][width],
               float out[restrict queries][width])
{
  for (int i = 0; i < queries; i++) {
    float weight[keys];
    float most = -INFINITY, sum = 0;
    for (int j = 0; j < keys; j++) {
      float score = 0;
      for (int d = 0; d < width; d++)
        score += q[i][d] * k[j][d];
      weight[j] = score;
    }
    for (int j = 0; j < keys; j++)
      most = fmaxf(most, weight[j]);
    for (int j = 0; j < keys; j++) {
      weight[j] = expf(weight[j] - most);
      sum += weight[j];
    }
    for (int d = 0; d < width; d++) {
      float total = 0;
      for (int j = 0; j < keys; j++)
        total += weight[j] * v[j][d];
      out[i][d] = total / sum;
    }
  }
}
