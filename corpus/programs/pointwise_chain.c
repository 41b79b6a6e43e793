/* Tone mapping in passes, each element by element: those over the same range need one kernel, the
   transposed copy and the shorter range their own. */
void pointwise_chain(int n, int m, const float in[n][m], float gain, float scaled[n][m], float bent[n][m],
                     float out[n][m], float turned[m][n])
{
  float low[n][m];
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      scaled[i][j] = gain * in[i][j];
  for (int r = 0; r < n; r++)
    for (int c = 0; c < m; c++) {
      float x = scaled[r][c];
      bent[r][c] = x / (1 + x * x);
      low[r][c] = x < 0 ? -x : 0;
    }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      out[i][j] = bent[i][j] - low[i][j];
  for (int i = 1; i < n; i++)
    for (int j = 0; j < m; j++)
      out[i][j] += bent[i - 1][j];
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      turned[j][i] = out[i][j];
}
