/* Number of differing bits of all pairs of fingerprints of 64-bit words, folded by exclusive or. */

void xor_fingerprints(int n, int m, int words, const unsigned long A[n][words],
                      const unsigned long B[m][words], unsigned long X[n][m])
{
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      unsigned long x = 0, all = ~0ul, any = 0;
      for (int k = 0; k < words; k++) {
        x ^= A[i][k] ^ (B[j][k] << 1);
        all &= A[i][k] | ~B[j][k];
        any |= A[i][k] & B[j][k];
      }
      X[i][j] = x + (all & any);
    }
}
