/* How many values are above a limit, and the largest and the smallest of them; C89. */
void span(int n, int limit, const int x[restrict n], int out[restrict 3])
{
  int i, count = 0, most = -2147483647, least = 2147483647;
  for (i = 0; i < n; i++) {
    if (x[i] > limit) count++;
    if (x[i] > most) most = x[i];
    least = x[i] < least ? x[i] : least;
  }
  out[0] += count;
  out[1] = most;
  out[2] = least;
}
