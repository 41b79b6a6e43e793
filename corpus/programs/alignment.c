/* The distance of two words (Needleman and Wunsch), in a table whose edges are set first. */

#define MIN(a, b) ((a) < (b) ? (a) : (b))

void alignment(int n, int m, const char a[n], const char b[m], int gap, int d[n + 1][m + 1])
{
  for (int i = 0; i <= n; i++)
    d[i][0] = i * gap;
  for (int j = 1; j <= m; j++)
    d[0][j] = j * gap;
  for (int i = 1; i <= n; i++)
    for (int j = 1; j <= m; j++) {
      int same = a[i - 1] == b[j - 1] ? 0 : 1;
      d[i][j] = MIN(MIN(d[i - 1][j], d[i][j - 1]) + gap, d[i - 1][j - 1] + same);
    }
}
