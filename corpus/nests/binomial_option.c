/* Prices of American put options on a binomial tree of 32 steps, held in a small array. */

#define STEPS 32

void binomial_option(int n, double p, double disc, const double K[n],
                     const double price[STEPS + 1][n], double value[n])
{
  for (int i = 0; i < n; i++) {
    double v[STEPS + 1];
    for (int j = 0; j <= STEPS; j++)
      v[j] = K[i] > price[j][i] ? K[i] - price[j][i] : 0.0;
    for (int t = STEPS; t > 0; t--)
      for (int j = 0; j < t; j++)
        v[j] = disc * (p * v[j + 1] + (1.0 - p) * v[j]);
    value[i] = v[0];
  }
}
