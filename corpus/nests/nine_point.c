/* Nine-point smoothing of a field held in one flat array. */

void nine_point(int n, int m, const double *restrict u, double *restrict v)
{
  int i, j;
  for (i = 1; i < n - 1; i++)
    for (j = 1; j < m - 1; j++)
      v[i * m + j] = 0.25 * u[i * m + j]
                   + 0.125 * (u[(i - 1) * m + j] + u[(i + 1) * m + j]
                              + u[i * m + j - 1] + u[i * m + j + 1])
                   + 0.0625 * (u[(i - 1) * m + j - 1] + u[(i - 1) * m + j + 1]
                               + u[(i + 1) * m + j - 1] + u[(i + 1) * m + j + 1]);
}
