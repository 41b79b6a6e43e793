/* The nearest of k centres for each of n points in d dimensions. */

#include <float.h>

void kmeans_assign(int n, int k, int d, const float X[n][d], const float C[k][d], int label[n])
{
  for (int i = 0; i < n; i++) {
    float best = FLT_MAX;
    int at = 0;
    for (int c = 0; c < k; c++) {
      float dist = 0.0f;
      for (int j = 0; j < d; j++) {
        float diff = X[i][j] - C[c][j];
        dist += diff * diff;
      }
      if (dist < best) {
        best = dist;
        at = c;
      }
    }
    label[i] = at;
  }
}
