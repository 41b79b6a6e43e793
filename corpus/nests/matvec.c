/* y = A * x: one dot product for each row. */

void matvec(int n, int m, const float A[n][m], const float x[m], float y[n])
{
  for (int i = 0; i < n; i++) {
    float sum = 0.0f;
    for (int j = 0; j < m; j++)
      sum += A[i][j] * x[j];
    y[i] = sum;
  }
}
