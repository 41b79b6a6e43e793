/* A weighted sum of bytes, kept in memory all the while. */
void checksum(int n, const unsigned char x[restrict n], unsigned sum[restrict 4])
{
  for (int i = 0; i < n; i++)
    sum[1] += x[i] * (i + 1u);
}
