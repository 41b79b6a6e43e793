/* Two parameters that are one array, pointers into the middle of arrays, pointers in structs. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

struct matrix { int rows, cols; double *data; };

void shifted(int n, double *to, const double *from)
{
  for (int i = 0; i < n; i++)
    to[i] = 2 * from[i] + 1;
}

void scaled(struct matrix *m, double by)
{
  double *d = m->data;
  for (int i = 0; i < m->rows; i++)
    for (int j = 0; j < m->cols; j++)
      d[i * m->cols + j] *= by;
}

void from_the_end(int n, int *a)
{
  int *p = a + n;
  for (int i = -n; i < 0; i++)
    p[i] = p[i] * 3 + i;
}

void sized(size_t n, float *x)
{
  for (size_t i = 0; i < n; i++)
    x[i] = x[i] * 0.5f + 1;
}

int main(void)
{
  enum { COUNT = 300 };
  double x[COUNT];
  int k[COUNT];
  float f[COUNT];
  struct matrix m = { 20, 15, NULL };
  m.data = x;
  for (int i = 0; i < COUNT; i++) {
    x[i] = i;
    k[i] = i * 7 % 13;
    f[i] = i;
  }
  shifted(COUNT - 1, x + 1, x);
  for (int i = 0; i < COUNT; i++)
    printf("%g ", x[i]);
  for (int i = 0; i < COUNT; i++)
    x[i] = i;
  shifted(COUNT / 2, x, x + COUNT / 2);
  scaled(&m, 1.5);
  from_the_end(COUNT, k);
  sized(COUNT, f);
  for (int i = 0; i < COUNT; i++)
    printf("%g %d %g\n", x[i], k[i], f[i]);
  return 0;
}
