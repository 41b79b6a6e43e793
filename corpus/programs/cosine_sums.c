/* The even parts of all signals but the first, in a base of cosines, in place: two rows of work space
   serve all of them, and hold what belongs to the last one afterwards. */

void cosine_sums(int count, int n, float signal[restrict count][n],
                 const float base[restrict n][n], float even[restrict n], float sums[restrict n])
{
  for (int s = 1; s < count; s++) {
    for (int i = 0; i < n; i++)
      even[i] = 0.5f * (signal[s][i] + signal[s][n - 1 - i]);
    for (int k = 0; k < n; k++) {
      sums[k] = 0;
      for (int i = 0; i < n; i++)
        sums[k] += even[i] * base[i][k];
    }
    for (int k = 0; k < n; k++)
      signal[s][k] = sums[k];
  }
}
