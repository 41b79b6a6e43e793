/* Discrete Fourier transform of n complex samples by its definition. */

#include <math.h>

#define TWO_PI 6.283185307179586

void dft(int n, const double re[n], const double im[n], double Re[n], double Im[n])
{
  for (int k = 0; k < n; k++) {
    double sr = 0.0, si = 0.0;
    for (int t = 0; t < n; t++) {
      double phi = TWO_PI * (double)k * t / n;
      double c = cos(phi), s = sin(phi);
      sr += re[t] * c + im[t] * s;
      si += im[t] * c - re[t] * s;
    }
    Re[k] = sr;
    Im[k] = si;
  }
}
