/* One anti-diagonal d of the longest common subsequence of a and b, from the two before it. Entry i
   of a diagonal stands for the prefixes of length i and d - i. */

void lcs_diagonal(int n, int d, const char a[n], const char b[n], const int prev2[n + 1],
                  const int prev[n + 1], int cur[n + 1])
{
  for (int i = 1; i < n + 1 && i < d; i++) {
    int up = prev[i - 1], left = prev[i];
    int best = up > left ? up : left;
    cur[i] = d - i <= n && a[i - 1] == b[d - i - 1] ? prev2[i - 1] + 1 : best;
  }
}
