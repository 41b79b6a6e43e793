/* The squares of the distances between all points of two sets. */

void squared_distances(int m, int n, int d, const float a[m][d], const float b[n][d],
                       float squares[m][n])
{
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++) {
      float sum = 0;
      for (int k = 0; k < d; k++) {
        float t = a[i][k] - b[j][k];
        sum += t * t;
      }
      squares[i][j] = sum;
    }
}
