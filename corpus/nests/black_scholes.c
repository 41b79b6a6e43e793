/* Prices of European call and put options by the formula of Black and Scholes. */

#include <math.h>

void black_scholes(int n, double r, double sigma, const double S[n], const double K[n],
                   const double T[n], double call[n], double put[n])
{
  for (int i = 0; i < n; i++) {
    double root = sigma * sqrt(T[i]);
    double d1 = (log(S[i] / K[i]) + (r + 0.5 * sigma * sigma) * T[i]) / root;
    double d2 = d1 - root;
    double n1 = 0.5 * (1.0 + erf(d1 / sqrt(2.0)));
    double n2 = 0.5 * (1.0 + erf(d2 / sqrt(2.0)));
    double cash = K[i] * exp(-r * T[i]);
    call[i] = S[i] * n1 - cash * n2;
    put[i] = cash * (1.0 - n2) - S[i] * (1.0 - n1);
  }
}
