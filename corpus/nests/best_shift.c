/* Largest correlation of every signal with the shifted signals of a bank, and the shift it has. */

void best_shift(int n, int shifts, int len, const float x[n][len], const float bank[shifts][len],
                float best[n], int at[n])
{
  for (int i = 0; i < n; i++) {
    float top = -1.0e30f;
    int arg = -1;
    for (int s = 0; s < shifts; s++) {
      float dot = 0.0f;
      for (int k = 0; k < len; k++)
        dot += x[i][k] * bank[s][k];
      if (dot > top) {
        top = dot;
        arg = s;
      }
    }
    best[i] = top;
    at[i] = arg;
  }
}
