/* Which variables threads share: a clause too few, or one that loses a value. */

void shared_scalar(int n, double *restrict a, double *restrict b, int *restrict k)
{
  double t;
#pragma omp parallel for // race
  for (int i = 0; i < n; i++) {
    t = a[i] + 1;
    b[i] = t * t;
  }
}

void private_scalar(int n, double *restrict a, double *restrict b, int *restrict k)
{
  double t;
#pragma omp parallel for private(t) // none
  for (int i = 0; i < n; i++) {
    t = a[i] + 1;
    b[i] = t * t;
  }
}

void last_value_is_lost(int n, double *restrict a, double *restrict b, int *restrict k)
{
  double t = 0;
#pragma omp parallel for private(t) // wrong
  for (int i = 0; i < 8; i++) {
    t = a[i];
    b[i] = t;
  }
  b[9] = t;
}

void last_value_is_kept(int n, double *restrict a, double *restrict b, int *restrict k)
{
  double t = 0;
#pragma omp parallel for lastprivate(t) // none
  for (int i = 0; i < 8; i++) {
    t = a[i];
    b[i] = t;
  }
  b[9] = t;
}

void no_value_yet(int n, double *restrict a, double *restrict b, int *restrict k)
{
  double scale = 3;
#pragma omp parallel for private(scale) // wrong
  for (int i = 0; i < n; i++)
    a[i] = scale * b[i];
}

void a_value_from_before(int n, double *restrict a, double *restrict b, int *restrict k)
{
  double scale = 3;
#pragma omp parallel for firstprivate(scale) // none
  for (int i = 0; i < n; i++)
    a[i] = scale * b[i];
}

void counter_of_an_inner_loop(int n, double *restrict a, double *restrict b, int *restrict k)
{
  int j;
#pragma omp parallel for // race
  for (int i = 0; i < n; i++)
    for (j = 0; j < 4; j++)
      a[64 * i + j] = b[i] + j;
}

void counter_that_is_private(int n, double *restrict a, double *restrict b, int *restrict k)
{
  int i, j;
#pragma omp parallel for private(j) // none
  for (i = 0; i < n; i++)
    for (j = 0; j < 4; j++)
      a[64 * i + j] = b[i] + j;
}

void counters_of_a_collapsed_nest(int n, double *restrict a, double *restrict b, int *restrict k)
{
  int i, j;
#pragma omp parallel for collapse(2) // none
  for (i = 0; i < n; i++)
    for (j = 0; j < 4; j++)
      a[64 * i + j] = b[i] + j;
}

/* A value is carried on, and each thread starts anew. */
void carried_value(int n, double *restrict a, double *restrict b, int *restrict k)
{
  double last = 0;
#pragma omp parallel for firstprivate(last) // wrong
  for (int i = 0; i < n; i++) {
    a[i] = b[i] - last;
    last = b[i];
  }
}

void array_of_an_iteration(int n, double *restrict a, double *restrict b, int *restrict k)
{
#pragma omp parallel for // none
  for (int i = 0; i < n; i++) {
    double w[4];
    for (int j = 0; j < 4; j++)
      w[j] = b[i] + j;
    a[i] = w[0] * w[3];
  }
}

void array_that_is_shared(int n, double *restrict a, double *restrict b, int *restrict k)
{
  double w[4];
#pragma omp parallel for // race
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < 4; j++)
      w[j] = b[i] + j;
    a[i] = w[0] * w[3];
  }
}
