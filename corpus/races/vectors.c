/* Loops of vectors: one thread, several iterations at a time. */

void lanes_apart(int n, double *restrict a, double *restrict b, int *restrict k)
{
#pragma omp simd // none
  for (int i = 0; i < n; i++)
    a[i] = b[i] * 2;
}

void lanes_that_meet(int n, double *restrict a, double *restrict b, int *restrict k)
{
#pragma omp simd // race
  for (int i = 1; i < n; i++)
    a[i] = a[i - 1] * 2;
}

void far_enough(int n, double *restrict a, double *restrict b, int *restrict k)
{
#pragma omp simd safelen(4) // none
  for (int i = 4; i < n; i++)
    a[i] = a[i - 4] * 2;
}

void too_near(int n, double *restrict a, double *restrict b, int *restrict k)
{
#pragma omp simd safelen(8) // race
  for (int i = 4; i < n; i++)
    a[i] = a[i - 4] * 2;
}

void linear_index(int n, double *restrict a, double *restrict b, int *restrict k)
{
  int j = 0;
#pragma omp simd linear(j : 2) // none
  for (int i = 0; i < n; i++) {
    a[j] = b[i];
    j += 2;
  }
}

void in_order_in_a_vector(int n, double *restrict a, double *restrict b, int *restrict k)
{
#pragma omp simd // none
  for (int i = 0; i < n; i++) {
#pragma omp ordered simd
    a[k[i]] += b[i];
  }
}
