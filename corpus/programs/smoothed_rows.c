/* Every row of an image is smoothed several times, in two rows of its own. Parallelism: the rows, and
   in each round the pixels of a row. */

void smoothed_rows(int n, int m, int rounds, const float image[restrict n][m],
                   float smooth[restrict n][m])
{
  for (int i = 0; i < n; i++) {
    float row[m], next[m];
    for (int j = 0; j < m; j++)
      row[j] = image[i][j];
    for (int round = 0; round < rounds; round++) {
      for (int j = 0; j < m; j++) {
        float left = j > 0 ? row[j - 1] : row[j];
        float right = j < m - 1 ? row[j + 1] : row[j];
        next[j] = 0.25f * left + 0.5f * row[j] + 0.25f * right;
      }
      for (int j = 0; j < m; j++)
        row[j] = next[j];
    }
    for (int j = 0; j < m; j++)
      smooth[i][j] = row[j];
  }
}
