/* Distances between all pairs of points, a block of pairs after the other; the blocks are numbered
   and the last ones end early. */

#define MIN(a, b) ((a) > (b) ? (b) : (a))

void blocked_distances(int n, int m, int d, const float *x, const float *y, float *restrict out)
{
  for (int block = 0; block < (n + 31) / 32; block++)
    for (int first = 0; first < m; first += 64)
      for (int i = 32 * block; i < MIN(n, 32 * block + 32); ++i)
        for (int j = first; j <= MIN(first + 63, m - 1); ++j) {
          float sum = 0.0f;
          for (int k = 0; k < d; ++k)
            sum += (x[i * d + k] - y[j * d + k]) * (x[i * d + k] - y[j * d + k]);
          out[i * m + j] = sum;
        }
}
