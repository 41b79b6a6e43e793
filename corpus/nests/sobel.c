/* Sobel edges of an image of bytes: magnitude of the gradient, cut off at white. */

#include <stdlib.h>

void sobel(int h, int w, const unsigned char *restrict in, unsigned char *restrict out)
{
  for (int i = 1; i < h - 1; i++)
    for (int j = 1; j < w - 1; j++) {
      const int a = in[(i - 1) * w + j - 1], b = in[(i - 1) * w + j], c = in[(i - 1) * w + j + 1];
      const int d = in[i * w + j - 1], e = in[i * w + j + 1];
      const int f = in[(i + 1) * w + j - 1], g = in[(i + 1) * w + j], k = in[(i + 1) * w + j + 1];
      const int gx = c + 2 * e + k - a - 2 * d - f;
      const int gy = f + 2 * g + k - a - 2 * b - c;
      const int m = abs(gx) + abs(gy);
      out[i * w + j] = m > 255 ? 255 : m;
    }
}
