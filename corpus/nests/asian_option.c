/* Payoffs of Asian options: each path of random growth factors is followed, its mean price taken. */

void asian_option(int paths, int steps, float s0, float strike, const float growth[steps][paths],
                  float payoff[paths])
{
  for (int p = 0; p < paths; p++) {
    float s = s0, sum = 0.0f;
    for (int t = 0; t < steps; t++) {
      s *= growth[t][p];
      sum += s;
    }
    float mean = sum / steps;
    payoff[p] = mean > strike ? mean - strike : 0.0f;
  }
}
