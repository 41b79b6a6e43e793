/* The long anti-diagonal of the edit distance of all pairs of strings of two lists, from the two
   before it. Entry i stands for the first i letters of one and the first len - i of the other. */

void edit_diagonal(int p, int q, int len, const char a[p][len], const char b[q][len],
                   const int prev2[p][q][len + 1], const int prev[p][q][len + 1],
                   int cur[p][q][len + 1])
{
  for (int s = 0; s < p; s++)
    for (int t = 0; t < q; t++)
      for (int i = 1; i < len; i++) {
        int best = prev[s][t][i - 1] < prev[s][t][i] ? prev[s][t][i - 1] : prev[s][t][i];
        int change = prev2[s][t][i - 1] + (a[s][i - 1] != b[t][len - i - 1]);
        cur[s][t][i] = change < best + 1 ? change : best + 1;
      }
}
