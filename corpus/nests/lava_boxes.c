/* Forces between the particles of each box and those of the box itself and its neighbours. */

#include <math.h>

void lava_boxes(int boxes, int par, int nn, float alpha, const int nb[boxes][nn],
                const float X[boxes][par], const float Y[boxes][par], const float Q[boxes][par],
                float V[boxes][par], float F[boxes][par])
{
  for (int b = 0; b < boxes; b++)
    for (int i = 0; i < par; i++) {
      float v = 0.0f, f = 0.0f;
      for (int l = 0; l < nn + 1; l++) {
        int j = l > 0 ? nb[b][l - 1] : b;
        for (int p = 0; p < par; p++) {
          float dx = X[b][i] - X[j][p], dy = Y[b][i] - Y[j][p];
          float u = alpha * (dx * dx + dy * dy);
          float e = Q[j][p] / (1.0f + u);
          v += e;
          f += 2.0f * e * dx;
        }
      }
      V[b][i] = v;
      F[b][i] = f;
    }
}
