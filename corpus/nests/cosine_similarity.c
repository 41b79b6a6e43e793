/* Cosine similarity of all rows of X with all rows of Y; the norms are computed on the way. */

#include <math.h>

void cosine_similarity(int n, int m, int d, const float X[n][d], const float Y[m][d],
                       float S[n][m])
{
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      float dot = 0.0f, xx = 0.0f, yy = 0.0f;
      for (int k = 0; k < d; k++)
        dot += X[i][k] * Y[j][k];
      for (int k = 0; k < d; k++)
        xx += X[i][k] * X[i][k];
      for (int k = 0; k < d; k++)
        yy += Y[j][k] * Y[j][k];
      S[i][j] = dot / sqrtf(xx * yy);
    }
}
