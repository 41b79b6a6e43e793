/* A linear layer of a batch of sequences; the bias may be left out. */

#include <stddef.h>

void linear_bias(float *out, const float *in, const float *weight, const float *bias, int b, int t,
                 int c, int oc)
{
  for (int n = 0; n < b; n++)
    for (int m = 0; m < t; m++) {
      int row = n * t + m;
      for (int o = 0; o < oc; o++) {
        float sum = (bias != NULL) ? bias[o] : 0.0f;
        for (int i = 0; i < c; i++)
          sum += in[row * c + i] * weight[o * c + i];
        out[row * oc + o] = sum;
      }
    }
}
