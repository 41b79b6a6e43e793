/* Nests in both branches of conditions: on sizes, on the step of a loop, on what was computed. */

void branches(int n, int m, int steps, float a[restrict n][m], float b[restrict n], int kind[1])
{
  float level = 0;

  if (n > m) {
    for (int i = 0; i < n; i++)
      b[i] = a[i][0] * 2;
  } else if (n > 4) {
    for (int i = 0; i < n; i++)
      b[i] = a[i][m - 1] - n;
  } else {
    b[0] = a[0][0];
    for (int i = 1; i < n; i++)
      b[i] = 1;
  }
  for (int t = 0; t < steps; t++) {
    for (int i = 0; i < n; i++)
      if (b[i] > level)
        level = b[i];
    if (level > 10 && kind[0] > 0) {
      for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
          a[i][j] -= level;
      for (int i = 0; i < n; i++)
        b[i] *= 0.5f;
    } else {
      for (int i = 0; i < n; i++)
        b[i] = b[i] * 2 + a[i][0];
      level = level * 0.5f;
    }
  }
}
