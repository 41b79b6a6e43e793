/* Mean of the marked samples of every channel. */

#include <stdbool.h>

void masked_mean(int channels, int n, const bool mask[n], const double x[channels][n],
                 double mean[channels])
{
  for (int c = 0; c < channels; c++) {
    double sum = 0.0;
    int count = 0;
    for (int k = 0; k < n; k++)
      if (mask[k]) {
        sum += x[c][k];
        count++;
      }
    mean[c] = count > 0 ? sum / count : 0.0;
  }
}
