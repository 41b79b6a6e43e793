"""Functions that the tests of `--fp` and of pragmas write, and a command that tiles one."""

from __future__ import annotations

QUOTIENTS = """
void f(int n, const float *restrict a, const float *restrict b, float *restrict c)
{
  for (int i = 0; i < n; i++)
    c[i] = a[i] / b[i] + a[i] * b[i];
}
"""
CALLS = QUOTIENTS.replace("a[i] * b[i]", "{}(a[i])").replace("void f", "#include <math.h>\nvoid f")
SUM = """
void f(int n, int m, const float a[n][m], float *restrict s)
{
  for (int i = 0; i < n; i++) {
    float t = 0;
    for (int j = 0; j < m; j++)
      t += a[i][j];
    s[i] = t;
  }
}
"""
TILED = [*["tile", "f.c", "-q", "--recipe", "reduce", "--fp", "reassociate", "--json", "p.json"]]
