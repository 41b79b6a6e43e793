/* Product added to what is there, with a nest for each value that scales it. */

void two_branches(int n, int m, int u, float alpha, const float *a, const float *b, float beta,
                  float *c)
{
  int i, j, k;
  float s;
  if (beta == 0.0f) {
    for (i = 0; i < n; i++)
      for (j = 0; j < m; j++) {
        s = 0.0f;
        for (k = 0; k < u; k++)
          s += a[i * u + k] * b[k * m + j];
        c[i * m + j] = alpha * s;
      }
  } else {
    for (i = 0; i < n; i++)
      for (j = 0; j < m; j++) {
        s = 0.0f;
        for (k = 0; k < u; k++)
          s += a[i * u + k] * b[k * m + j];
        c[i * m + j] = alpha * s + beta * c[i * m + j];
      }
  }
}
