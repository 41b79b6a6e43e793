/* Bilateral filter: neighbours count the less the farther away they are and the more they differ. */

#include <math.h>

#define R 3

void bilateral(int h, int w, float ss, float sr, float in[h][w], float out[h][w])
{
  for (int i = R; i < h - R; i++)
    for (int j = R; j < w - R; j++) {
      float num = 0.0f, den = 0.0f;
      for (int p = -R; p <= R; p++)
        for (int q = -R; q <= R; q++) {
          float d = in[i + p][j + q] - in[i][j];
          float wgt = expf(-ss * (p * p + q * q) - sr * d * d);
          num += wgt * in[i + p][j + q];
          den += wgt;
        }
      out[i][j] = num / den;
    }
}
