/* Elements that two iterations touch. */

void one_back(int n, double *restrict a, double *restrict b, int *restrict k)
{
#pragma omp parallel for // race
  for (int i = 1; i < n; i++)
    a[i] = a[i - 1] + b[i];
}

void one_ahead(int n, double *restrict a, double *restrict b, int *restrict k)
{
#pragma omp parallel for // race
  for (int i = 0; i < n - 1; i++)
    a[i] = a[i + 1] + 1;
}

void even_and_odd(int n, double *restrict a, double *restrict b, int *restrict k)
{
#pragma omp parallel for // none
  for (int i = 0; i < n; i++)
    a[2 * i] = a[2 * i + 1];
}

void halves(int n, double *restrict a, double *restrict b, int *restrict k)
{
#pragma omp parallel for // none
  for (int i = 0; i < n; i++)
    a[i] = a[i + n];
}

void halves_that_meet(int n, double *restrict a, double *restrict b, int *restrict k)
{
#pragma omp parallel for // race
  for (int i = 0; i <= n; i++)
    a[i] = a[i + n];
}

void rows(int n, double *restrict a, double *restrict b, int *restrict k)
{
#pragma omp parallel for // none
  for (int i = 0; i < n; i++)
    for (int j = 1; j < 64; j++)
      a[64 * i + j] += a[64 * i + j - 1];
}

void rows_that_run_over(int n, double *restrict a, double *restrict b, int *restrict k)
{
#pragma omp parallel for // race
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= 64; j++)
      a[64 * i + j] = j;
}

void columns(int n, double *restrict a, double *restrict b, int *restrict k)
{
  for (int i = 1; i < n; i++)
#pragma omp parallel for // none
    for (int j = 0; j < 64; j++)
      a[64 * i + j] += a[64 * (i - 1) + j];
}

void collapsed_over_a_dependence(int n, double *restrict a, double *restrict b, int *restrict k)
{
#pragma omp parallel for collapse(2) // race
  for (int i = 0; i < n; i++)
    for (int j = 1; j < 64; j++)
      a[64 * i + j] += a[64 * i + j - 1];
}

void triangle(int n, double *restrict a, double *restrict b, int *restrict k)
{
#pragma omp parallel for // none
  for (int i = 0; i < 64; i++)
    for (int j = 0; j < i; j++)
      b[64 * i + j] = b[64 * j + i];
}

void everywhere_at_once(int n, double *restrict a, double *restrict b, int *restrict k)
{
#pragma omp parallel for // race
  for (int i = 0; i < n; i++)
    a[0] = b[i];
}

/* Indices from memory: two may be equal. */
void scattered(int n, double *restrict a, double *restrict b, int *restrict k)
{
#pragma omp parallel for // race (unknown)
  for (int i = 0; i < n; i++)
    a[k[i]] = b[i];
}

void gathered(int n, double *restrict a, double *restrict b, int *restrict k)
{
#pragma omp parallel for // none
  for (int i = 0; i < n; i++)
    a[i] = b[k[i]];
}

/* In place under a condition that is never true of the diagonal. */
void beside_the_diagonal(int n, double *restrict a, double *restrict b, int *restrict k)
{
#pragma omp parallel for // none
  for (int i = 0; i < 64; i++)
    for (int j = 0; j < 64; j++)
      if (i != j)
        a[64 * i + j] = b[64 * i + i];
}

void one_iteration_only(int n, double *restrict a, double *restrict b, int *restrict k)
{
#pragma omp parallel for // none
  for (int i = 0; i < n; i++)
    if (i == 3)
      a[5] = b[i];
}

void in_one_thread(int n, double *restrict a, double *restrict b, int *restrict k)
{
#pragma omp parallel for num_threads(1) // none
  for (int i = 1; i < n; i++)
    a[i] = a[i - 1] + b[i];
}
