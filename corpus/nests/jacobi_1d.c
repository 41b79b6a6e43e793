/* One Jacobi step on a line: the mean of three neighbours. */

void jacobi_1d(int n, const double *restrict a, double *restrict b)
{
  for (int i = 1; i < n - 1; i++)
    b[i] = (a[i - 1] + a[i] + a[i + 1]) / 3.0;
}
