/* Causal attention output for one head: rows of P weigh the values up to their own position. */

void causal_attention(int n, int d, const float P[n][n], const float V[n][d], float O[n][d])
{
  for (int i = 0; i < n; i++)
    for (int c = 0; c < d; c++) {
      float num = 0.0f, den = 0.0f;
      for (int k = 0; k < n; k++)
        if (k <= i) {
          num += P[i][k] * V[k][c];
          den += P[i][k];
        }
      O[i][c] = num / den;
    }
}
