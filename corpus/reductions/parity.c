/* Whether an odd number of samples is above a limit. */
void parity(int n, const unsigned short x[restrict n], int limit, _Bool odd[1])
{
  _Bool p = odd[0];
  for (int i = 0; i < n; i++)
    p ^= x[i] > limit;
  odd[0] = p;
}
