"""Nests in which statements stand beside parallel loops, and how many kernels they become."""

from __future__ import annotations

from dataclasses import dataclass

SCALARS = """\
void f(int n, int m, double h, const double x[restrict n], const double y[restrict m],
       double C[restrict n][m])
{
  double t, u;
  double inv = 1 / (h * h);
  for (int i = 0; i < n; i++) {
    t = x[i] * inv;
    if (t > 1)
      u = t - 1;
    else
      u = h;
    for (int j = 0; j < m; j++)
      C[i][j] = t * y[j] / u;
  }
}
"""

ROWS = """\
void f(int n, int m, const float A[restrict n][m], float B[restrict n][m], float total[restrict n])
{
  for (int i = 0; i < n; i++) {
    float sum = 0, top = A[i][0];
    for (int j = 0; j < m; j++)
      sum += A[i][j];
    for (int j = 1; j < m; j++)
      top = A[i][j] > top ? A[i][j] : top;
    float scale = 1 / (sum * sum + 1);
    for (int j = 0; j < m; j++)
      B[i][j] = (A[i][j] - top) * scale;
    total[i] = sum + top;
  }
}
"""

PRODUCT = """\
void f(int n, int m, int p, float c, const float A[restrict n][p], const float B[restrict p][m],
       const float x[restrict n], float C[restrict n][m], float d[restrict n])
{
  for (int i = 0; i < n; i++) {
    float t = x[i] * c;
    for (int j = 0; j < m; j++) {
      float s = 0;
      for (int k = 0; k < p; k++)
        s += A[i][k] * B[k][j];
      C[i][j] = s * t;
    }
    d[i] = t;
  }
}
"""

C89 = """\
void f(int n, int m, int p, const int A[restrict n][p], const int B[restrict p][m],
       int C[restrict n][m], int d[restrict n])
{
  int i, j, k, s, t, sum;
  for (i = 0; i < n; i++) {
    sum = 0;
    for (k = 0; k < p; k++)
      sum += A[i][k];
    for (j = 0; j < m; j++) {
      t = sum - j;
      s = 0;
      for (k = 0; k < p; k++)
        s += A[i][k] * B[k][j];
      C[i][j] = s * t;
    }
    d[i] = sum;
  }
}
"""

BATCHES = """\
void f(int b, int n, int m, const float X[restrict b][n][m], float Y[restrict b][n][m],
       float Z[restrict b][n][m])
{
  for (int g = 0; g < b; g++)
    for (int i = 0; i < n; i++) {
      float sum = 0;
      for (int j = 0; j < m; j++)
        sum += X[g][i][j];
      for (int j = 0; j < m; j++)
        Y[g][i][j] = X[g][i][j] - sum / m;
      float squares = 0;
      for (int j = 0; j < m; j++)
        squares += Y[g][i][j] * Y[g][i][j];
      for (int j = 0; j < m; j++)
        Z[g][i][j] = Y[g][i][j] / (squares + 1);
    }
}
"""

ELIMINATION = """\
void f(int n, int m, float A[restrict n][m])
{
  for (int i = 1; i < n; i++) {
    float factor = A[i][0] / A[0][0];
    for (int j = 1; j < m; j++)
      A[i][j] -= factor * A[0][j];
  }
}
"""

TRIANGLE = """\
void f(int n, int c, const int x[restrict n], int T[restrict n][n])
{
  int double_c = 2 * c;
  for (int i = 0; i < n; i++) {
    int t = x[i] + double_c;
    for (int j = 0; j <= i; j++)
      T[i][j] = t - x[j];
  }
}
"""

FEW = """\
void f(int n, float c, const float x[restrict n], float p[restrict n][3], float q[restrict n])
{
  for (int i = 0; i < n; i++) {
    float t = x[i] * c;
    for (int a = 0; a < 3; a++)
      p[i][a] = t + a;
    q[i] = t;
  }
}
"""


SKIPPED = """\
void f(int n, int m, int p, const float A[restrict n][p], const float B[restrict p][m],
       float C[restrict n][m])
{
  for (int i = 0; i < n; i++)
    for (int k = 0; k < p; k++) {
      float r = A[i][k] - 0.5f;
      if (r <= 0)
        continue;
      for (int j = 0; j < m; j++)
        C[i][j] += r * B[k][j];
    }
}
"""

CHOSEN_ROWS = """\
void f(int n, int m, int p, const float A[restrict n][p], const float B[restrict p][m],
       const int x[restrict n], float C[restrict n][m])
{
  for (int i = 0; i < n; i++)
    if (x[i] % 2 == 0)
      for (int j = 0; j < m; j++) {
        float s = 0;
        for (int k = 0; k < p; k++)
          s += A[i][k] * B[k][j];
        C[i][j] = s;
      }
}
"""


@dataclass(frozen=True)
class Imperfect:
    """`kernels` are the dimensions of the grid of each kernel; `sizes` fit no tile."""

    text: str
    kernels: tuple[int, ...]
    sizes: dict[str, float]


CASES = {
    "scalars": Imperfect(SCALARS, (2,), {"n": 37, "m": 53, "h": 0.75}),
    "rows": Imperfect(ROWS, (1, 1, 1, 1, 1, 2, 1, 1, 1, 1, 2, 1, 1), {"n": 37, "m": 53}),
    "product": Imperfect(PRODUCT, (2, 1), {"n": 37, "m": 21, "p": 19, "c": 1.5}),
    "c89": Imperfect(C89, (2, 1, 1, 1, 2, 1), {"n": 21, "m": 37, "p": 19}),
    "batches": Imperfect(
        BATCHES, (2, 2, 2, 3, 2, 2, 3, 2, 2, 2, 3, 2, 3, 2), {"b": 3, "n": 7, "m": 21}
    ),
    "elimination": Imperfect(ELIMINATION, (2,), {"n": 37, "m": 53}),
    "triangle": Imperfect(TRIANGLE, (2,), {"n": 37, "c": 3}),
    "skipped": Imperfect(SKIPPED, (2,), {"n": 37, "m": 21, "p": 19}),
    "chosen-rows": Imperfect(CHOSEN_ROWS, (2,), {"n": 37, "m": 21, "p": 19}),
    "few": Imperfect(FEW, (1,), {"n": 37, "c": 1.5}),
}
