"""Small C functions that the tests of several steps share."""

MM = """\
void mm(int M, int U, int N, float A[M][U], float B[U][N], float C[M][N])
{
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      float acc = 0;
      for (int k = 0; k < U; k++)
        acc += A[i][k] * B[k][j];
      C[i][j] = acc;
    }
}
"""

BFLOATS = """\
#include <stdint.h>
#include <string.h>
static float widened(uint16_t h)
{
  uint32_t bits = (uint32_t)h << 16;
  float f;
  memcpy(&f, &bits, sizeof f);
  return f;
}
""" + MM.replace("float A", "const uint16_t A").replace("float B", "const uint16_t B").replace(
    "A[i][k] * B[k][j]", "widened(A[i][k]) * widened(B[k][j])"
)

FLAT = """\
void flat(int n, const float *A, const float *B, float *C)
{
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      float acc = 0;
      for (int k = 0; k < n; k++)
        acc += A[i*n + k] * B[k*n + j];
      C[i*n + j] = acc;
    }
}
"""

C89 = """\
void mm(int M, int U, int N, float A[M][U], float B[U][N], float C[M][N])
{
  int i, j, k;
  float acc;
  for (i = 0; i < M; i++)
    for (j = 0; j < N; j++) {
      acc = 0;
      for (k = 0; k < U; k++)
        acc += A[i][k] * B[k][j];
      C[i][j] = acc;
    }
}
"""

ACCUMULATE = """\
void add(int M, int U, int N, float A[M][U], float B[U][N], float C[M][N])
{
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++)
      for (int k = 0; k < U; k++)
        C[i][j] += A[i][k] * B[k][j];
}
"""

TRIANGULAR = """\
void tri(int n, float A[n][n], float x[n])
{
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= i; j++)
      A[i][j] = x[i] + x[j];
}
"""

DOWN = """\
void down(int n, float a[n + 1])
{
  for (int i = n - 1; i >= 0; i -= 2)
    a[i] = a[i + 1] + 1;
}
"""

STENCIL = """\
void relax(int n, float a[n + 2], float b[n + 2])
{
  for (int t = 0; t < n; t++)
    for (int i = 1; i <= n; i++)
      b[i] = (a[i - 1] + a[i] + a[i + 1]) / 3 + t;
}
"""

SKEW = """\
void skew(int n, float a[n + 1][n + 1])
{
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      a[i + 1][j] = a[i][j + 1] + 1;
}
"""

DIAGONAL = """\
void diagonal(int n, float a[n + 1][n + 1])
{
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      a[i + 1][j + 1] = a[i][j] + 1;
}
"""

TWO = """\
void two(int n, float a[n], float b[n])
{
  for (int i = 0; i < n; i++) {
    float t = a[i] * 2;
    b[i] = t;
  }
  for (int i = 0; i < n; i++)
    a[i] = b[i] + 1;
}
"""

COPY = "void f(int n, float a[n], float b[n]) { for (int i = 0; i < n; i++) b[i] = a[i]; }\n"

PARALLEL = ("parallelise i", "parallelise j")
TILED = (
    *("stripmine i Ty*Ry iii", "stripmine i Ry ii"),
    *("stripmine j Tx*Rx jjj", "stripmine j Rx jj", "stripmine k Tk kk"),
    *("interchange i jjj", "interchange ii jjj", "interchange i jj"),
)
EXPANDED = (*PARALLEL, *TILED, "expand acc ii,jj,i,j")
DISTRIBUTED = (*EXPANDED, "distribute ii,jj,i,j")
SWAPPED = (
    *DISTRIBUTED,
    *("interchange j kk", "interchange i kk", "interchange jj kk", "interchange ii kk"),
    *("interchange j k", "interchange i k"),
)
NORMAL = (
    *SWAPPED,
    *("sequentialise i*", "sequentialise j*"),
    *("normalise k", "normalise j*", "normalise i* innermost"),
)
MAPPED = (*NORMAL, "map iii group.y", "map jjj group.x", "map ii* thread.y", "map jj* thread.x")
STAGED = (*MAPPED, "copy-to-local A kk", "copy-to-local B kk")
"""The steps of the tile recipe on `MM`, up to each stage."""
