/* Plain pointers with the arithmetic of rows written out; half as many columns in each sweep. */

void flat_sweeps(int n, int m, int *restrict a, int *restrict b, int c[restrict m])
{
  int width = m;
  for (int s = 0; s < 3; s++) {
    for (int i = 0; i < n; i++)
      for (int j = 0; j < m; j++)
        b[i * m + j] = a[i * m + j] + s;
    for (int i = 0; i < n; i++)
      for (int j = 0; j < m; j++)
        a[i * m + j] += b[i * m + m - 1 - j];
    width = width / 2;
    if (s % 2 == 0)
      for (int j = 0; j < width; j++)
        c[j] += s;
  }
}
