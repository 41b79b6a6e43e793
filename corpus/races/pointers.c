/* Copies of pointers and structs: a pointer is copied without what it points to. */

struct point {
  double x, y;
  double trail[4];
};

void copied_pointer(int n, double *restrict a, double *restrict b, int *restrict k)
{
#pragma omp parallel for firstprivate(a) // race
  for (int i = 0; i < n; i++) {
    a[0] = b[i];
    b[i] = a[0] + 1;
  }
}

void copied_pointer_apart(int n, double *restrict a, double *restrict b, int *restrict k)
{
#pragma omp parallel for firstprivate(a) // none
  for (int i = 0; i < n; i++)
    a[i] = b[i];
}

void pointer_to_nowhere(int n, double *restrict a, double *restrict b, int *restrict k)
{
#pragma omp parallel for private(a) // wrong
  for (int i = 0; i < n; i++)
    a[i] = b[i];
}

void pointer_set_in_each_iteration(int n, double *restrict a, double *restrict b, int *restrict k)
{
  double *row;
#pragma omp parallel for private(row) // none
  for (int i = 0; i < n; i++) {
    row = &a[64 * i];
    for (int j = 0; j < 4; j++)
      row[j] = b[j];
  }
}

void pointer_copied_by_the_region(int n, double *restrict a, double *restrict b, int *restrict k)
{
#pragma omp parallel firstprivate(a)
  {
#pragma omp for // race
    for (int i = 0; i < n; i++)
      a[0] = i;
  }
}

void struct_in_each_thread(int n, double *restrict a, double *restrict b, int *restrict k)
{
  struct point p;
  p.y = 2;
#pragma omp parallel for firstprivate(p) // none
  for (int i = 0; i < n; i++) {
    p.x = b[i];
    p.trail[1] = p.x * p.y;
    a[i] = p.trail[1];
  }
}

void struct_that_is_shared(int n, double *restrict a, double *restrict b, int *restrict k)
{
  struct point p;
  p.y = 2;
#pragma omp parallel for // race
  for (int i = 0; i < n; i++) {
    p.x = b[i];
    a[i] = p.x * p.y;
  }
}

void struct_without_a_value(int n, double *restrict a, double *restrict b, int *restrict k)
{
  struct point p;
  p.y = 2;
#pragma omp parallel for private(p) // wrong
  for (int i = 0; i < n; i++)
    a[i] = b[i] * p.y;
}

void pointer_that_iterations_share(int n, double *restrict a, double *restrict b, int *restrict k)
{
  double *row;
#pragma omp parallel for // race
  for (int i = 0; i < n; i++) {
    row = &a[64 * i];
    for (int j = 0; j < 4; j++)
      row[j] = b[j];
  }
}

void pointer_of_an_iteration(int n, double *restrict a, double *restrict b, int *restrict k)
{
#pragma omp parallel for // none
  for (int i = 0; i < n; i++) {
    double *row = &a[64 * i];
    for (int j = 0; j < 4; j++)
      row[j] = b[j];
  }
}

void pointer_of_a_thread(int n, double *restrict a, double *restrict b, int *restrict k)
{
  double *all;
#pragma omp parallel private(all)
  {
    all = a + 1;
#pragma omp for // none
    for (int i = 0; i < n; i++)
      all[i] = b[i];
  }
}

void pointer_to_the_original(int n, double *restrict a, double *restrict b, int *restrict k)
{
  double w[4] = {1, 2, 3, 4}, *first = w;
#pragma omp parallel for firstprivate(w) // wrong (unknown)
  for (int i = 0; i < n; i++) {
    w[0] = b[i];
    a[i] = first[0];
  }
}

void pointer_to_the_copy(int n, double *restrict a, double *restrict b, int *restrict k)
{
  double w[4] = {1, 2, 3, 4};
#pragma omp parallel for firstprivate(w) // none (unknown)
  for (int i = 0; i < n; i++) {
    double *first = w;
    w[0] = b[i];
    a[i] = first[0] + first[3];
  }
}
