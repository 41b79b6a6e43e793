/* Sums, extrema and counts. */

void sum(int n, double *restrict a, double *restrict b, int *restrict k)
{
  int s = 0;
#pragma omp parallel for // race
  for (int i = 0; i < n; i++)
    s += k[i];
  k[0] = s;
}

void sum_with_a_clause(int n, double *restrict a, double *restrict b, int *restrict k)
{
  int s = 0;
#pragma omp parallel for reduction(+ : s) // none
  for (int i = 0; i < n; i++)
    s += k[i];
  k[0] = s;
}

void another_operator(int n, double *restrict a, double *restrict b, int *restrict k)
{
  int s = 1;
#pragma omp parallel for reduction(+ : s) // wrong
  for (int i = 0; i < n; i++)
    s ^= k[i];
  k[0] = s;
}

void sum_that_is_seen(int n, double *restrict a, double *restrict b, int *restrict k)
{
  int s = 0;
#pragma omp parallel for reduction(+ : s) // wrong
  for (int i = 0; i < n; i++) {
    s += 2;
    a[i] = s;
  }
  k[0] = s;
}

void largest(int n, double *restrict a, double *restrict b, int *restrict k)
{
  double m = a[0];
#pragma omp parallel for reduction(max : m) // none
  for (int i = 1; i < n; i++)
    if (a[i] > m)
      m = a[i];
  b[0] = m;
}

void histogram(int n, double *restrict a, double *restrict b, int *restrict k)
{
  int h[64] = {0};
#pragma omp parallel for reduction(+ : h) // none
  for (int i = 0; i < n; i++)
    h[i % 7] += k[i];
  for (int j = 0; j < 7; j++)
    k[j] = h[j];
}

void section_of_an_array(int n, double *restrict a, double *restrict b, int *restrict k)
{
#pragma omp parallel for reduction(+ : k[0 : 8]) // none
  for (int i = 0; i < n; i++)
    k[i % 8] += i;
}

void outside_of_the_section(int n, double *restrict a, double *restrict b, int *restrict k)
{
#pragma omp parallel for reduction(+ : k[0 : 4]) // wrong (unknown)
  for (int i = 0; i < n; i++)
    k[i % 8] += i;
}

void sums_of_rows(int n, double *restrict a, double *restrict b, int *restrict k)
{
#pragma omp parallel for // none
  for (int i = 0; i < n; i++) {
    int s = 0;
    for (int j = 0; j < n; j++)
      s += k[j] * i;
    a[i] = s;
  }
}

void counts_from_memory(int n, double *restrict a, double *restrict b, int *restrict k)
{
#pragma omp parallel for // race (unknown)
  for (int i = 0; i < n; i++)
    a[k[i]] += 1;
}
