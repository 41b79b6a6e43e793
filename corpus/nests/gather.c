/* y = x[idx], rows of a table picked by number and scaled. */

void gather(int n, int rows, int d, const int idx[n], const float w[n], const float x[rows][d],
            float y[n][d])
{
  for (int i = 0; i < n; i++)
    for (int c = 0; c < d; c++)
      y[i][c] = w[i] * x[idx[i]][c];
}
