/* Hamming distance of all pairs of strings of two lists. */

void hamming(int p, int q, int len, const char a[p][len], const char b[q][len],
             unsigned short dist[p][q])
{
  int i, j, k;
  for (i = 0; i < p; i++)
    for (j = 0; j < q; j++) {
      int d = 0;
      for (k = 0; k < len; k++)
        d += a[i][k] != b[j][k];
      dist[i][j] = d;
    }
}
