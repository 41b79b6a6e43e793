/* 27-point stencil: a small box of weights around every point of a grid. */

void stencil_27(int n, int m, int l, float w[3][3][3], float a[n][m][l], float b[n][m][l])
{
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < m - 1; j++)
      for (int k = 1; k < l - 1; k++) {
        float s = 0;
        for (int p = -1; p <= 1; p++)
          for (int q = -1; q <= 1; q++)
            for (int r = -1; r <= 1; r++)
              s += w[p + 1][q + 1][r + 1] * a[i + p][j + q][k + r];
        b[i][j][k] = s;
      }
}
