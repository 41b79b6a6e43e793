/* Loops of a parallel region, and what stands beside them. */

void two_loops(int n, double *restrict a, double *restrict b, int *restrict k)
{
#pragma omp parallel
  {
#pragma omp for // none
    for (int i = 0; i < n; i++)
      a[i] = b[i];
#pragma omp for // none
    for (int i = 0; i < n; i++)
      b[i] = a[n - 1 - i];
  }
}

void without_the_barrier(int n, double *restrict a, double *restrict b, int *restrict k)
{
#pragma omp parallel
  {
#pragma omp for nowait // race (unknown)
    for (int i = 0; i < n; i++)
      a[i] = b[i];
#pragma omp for // race (unknown)
    for (int i = 0; i < n; i++)
      b[i] = a[n - 1 - i];
  }
}

void single_after_nowait(int n, double *restrict a, double *restrict b, int *restrict k)
{
#pragma omp parallel // none (unknown)
  {
#pragma omp for nowait // race
    for (int i = 0; i < n; i++)
      a[i] = b[i];
#pragma omp single // race (unknown)
    b[0] = a[9];
  }
}

void value_of_the_thread(int n, double *restrict a, double *restrict b, int *restrict k)
{
  double t;
#pragma omp parallel private(t)
  {
#pragma omp for // none
    for (int i = 0; i < n; i++) {
      t = b[i];
      a[i] = t + 1;
    }
  }
}

void loop_that_nobody_shares_out(int n, double *restrict a, double *restrict b, int *restrict k)
{
#pragma omp parallel // race (unknown)
  for (int i = 0; i < n; i++)
    a[i] += b[i];
}

void rounds(int n, double *restrict a, double *restrict b, int *restrict k)
{
#pragma omp parallel
  {
    for (int t = 0; t < 3; t++) {
#pragma omp for // none
      for (int i = 1; i < n; i++)
        a[i] = b[i - 1] + t;
#pragma omp for // none
      for (int i = 1; i < n; i++)
        b[i] = a[i];
    }
  }
}

void tasks(int n, double *restrict a, double *restrict b, int *restrict k)
{
#pragma omp parallel // none (unknown)
  {
#pragma omp single // race (unknown)
    {
#pragma omp task // race (unknown)
      a[0] = 1;
#pragma omp task // race (unknown)
      a[0] = 2;
    }
  }
}

void loop_of_tasks(int n, double *restrict a, double *restrict b, int *restrict k)
{
#pragma omp parallel // none (unknown)
#pragma omp single // none (unknown)
#pragma omp taskloop // none (unknown)
  for (int i = 0; i < n; i++)
    a[i] = b[i];
}

void two_sections(int n, double *restrict a, double *restrict b, int *restrict k)
{
#pragma omp parallel sections // race (unknown)
  {
#pragma omp section
    a[0] = 1;
#pragma omp section
    b[0] = a[0];
  }
}

void sum_of_each_thread(int n, double *restrict a, double *restrict b, int *restrict k)
{
#pragma omp parallel
  {
    int sum = 0;
#pragma omp for // none
    for (int i = 0; i < n; i++)
      sum += k[i];
#pragma omp for // wrong (unknown)
    for (int i = 0; i < n; i++)
      a[i] = sum;
  }
}

void table_of_each_thread(int n, double *restrict a, double *restrict b, int *restrict k)
{
#pragma omp parallel
  {
    double table[64] = {0};
#pragma omp for // none
    for (int i = 0; i < n; i++)
      table[i % 64] += b[i];
#pragma omp for // wrong (unknown)
    for (int i = 0; i < n; i++)
      a[i] = table[63 - i % 64];
  }
}

void factor_of_each_thread(int n, double *restrict a, double *restrict b, int *restrict k)
{
#pragma omp parallel
  {
    double table[4];
    for (int j = 0; j < 4; j++)
      table[j] = 0.5 * j;
#pragma omp for // none
    for (int i = 0; i < n; i++)
      a[i] = table[i % 4];
#pragma omp for // none
    for (int i = 0; i < n; i++)
      b[i] += a[n - 1 - i] * table[3];
  }
}

void team_of_one(int n, double *restrict a, double *restrict b, int *restrict k)
{
#pragma omp parallel num_threads(1)
  {
    double last = 0;
#pragma omp for // none
    for (int i = 1; i < n; i++) {
      a[i] += a[i - 1];
      last = a[i];
    }
#pragma omp for // none
    for (int i = 0; i < n; i++)
      b[i] -= last;
  }
}
