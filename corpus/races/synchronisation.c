/* Critical sections, atomics, ordered regions: no race is not yet the result of the loop in order. */

void atomic_sum(int n, double *restrict a, double *restrict b, int *restrict k)
{
  int s = 0;
#pragma omp parallel for // none
  for (int i = 0; i < n; i++) {
#pragma omp atomic
    s += k[i];
  }
  k[0] = s;
}

void atomic_on_one_side(int n, double *restrict a, double *restrict b, int *restrict k)
{
  int s = 0;
#pragma omp parallel for // race
  for (int i = 0; i < n; i++) {
#pragma omp atomic
    s += 1;
    a[i] = s;
  }
}

void lost_updates(int n, double *restrict a, double *restrict b, int *restrict k)
{
  int s = 0;
#pragma omp parallel for // order
  for (int i = 0; i < n; i++) {
    int v;
#pragma omp atomic read
    v = s;
#pragma omp atomic write
    s = v + k[i];
  }
  k[0] = s;
}

void tickets(int n, double *restrict a, double *restrict b, int *restrict k)
{
  int next = 0;
#pragma omp parallel for // order
  for (int i = 0; i < n; i++) {
    int mine;
#pragma omp atomic capture
    {
      mine = next;
      next += 1;
    }
    a[i] = mine;
  }
}

void flag(int n, double *restrict a, double *restrict b, int *restrict k)
{
  int seen = 0;
#pragma omp parallel for // none
  for (int i = 0; i < n; i++)
    if (k[i] == 3) {
#pragma omp atomic write
      seen = 1;
    }
  k[0] = seen;
}

void last_writer(int n, double *restrict a, double *restrict b, int *restrict k)
{
  int last = 0;
#pragma omp parallel for // order
  for (int i = 0; i < n; i++)
    if (k[i] == 3) {
#pragma omp atomic write
      last = i;
    }
  k[0] = last;
}

void critical_sum(int n, double *restrict a, double *restrict b, int *restrict k)
{
  int s = 0;
#pragma omp parallel for // none
  for (int i = 0; i < n; i++) {
#pragma omp critical
    s += k[i];
  }
  k[0] = s;
}

void two_locks(int n, double *restrict a, double *restrict b, int *restrict k)
{
  int s = 0;
#pragma omp parallel for // race
  for (int i = 0; i < n; i++) {
#pragma omp critical(here)
    s += k[i];
#pragma omp critical(there)
    s -= 1;
  }
  k[0] = s;
}

void critical_largest(int n, double *restrict a, double *restrict b, int *restrict k)
{
  double m = a[0];
#pragma omp parallel for // none
  for (int i = 1; i < n; i++) {
#pragma omp critical
    if (a[i] > m)
      m = a[i];
  }
  b[0] = m;
}

/* Of two equal values the one that comes first. */
void critical_place(int n, double *restrict a, double *restrict b, int *restrict k)
{
  double m = a[0];
  int at = 0;
#pragma omp parallel for // order
  for (int i = 1; i < n; i++) {
#pragma omp critical
    if (a[i] > m) {
      m = a[i];
      at = i;
    }
  }
  k[0] = at;
}

void critical_saturation(int n, double *restrict a, double *restrict b, int *restrict k)
{
  int s = 0;
#pragma omp parallel for // order
  for (int i = 0; i < n; i++) {
#pragma omp critical
    {
      s += k[i];
      if (s > 99)
        s = 0;
    }
  }
  k[0] = s;
}

void critical_list(int n, double *restrict a, double *restrict b, int *restrict k)
{
  int length = 0;
#pragma omp parallel for // order
  for (int i = 0; i < n; i++) {
#pragma omp critical
    {
      a[length] = b[i];
      length++;
    }
  }
}

void in_order(int n, double *restrict a, double *restrict b, int *restrict k)
{
  double s = 0;
#pragma omp parallel for ordered // none
  for (int i = 0; i < n; i++) {
#pragma omp ordered
    {
      s = 0.5 * s + b[i];
      a[i] = s;
    }
  }
}

void region_without_the_clause(int n, double *restrict a, double *restrict b, int *restrict k)
{
#pragma omp parallel for ordered // race
  for (int i = 1; i < n; i++) {
    double t = a[i - 1];
#pragma omp ordered
    a[i] = t + b[i];
  }
}

void waiting_for_the_neighbour(int n, double *restrict a, double *restrict b, int *restrict k)
{
#pragma omp parallel for ordered(1) // none (unknown)
  for (int i = 1; i < n; i++) {
#pragma omp ordered depend(sink : i - 1)
    a[i] = a[i - 1] + b[i];
#pragma omp ordered depend(source)
  }
}

void before_the_ordered_region(int n, double *restrict a, double *restrict b, int *restrict k)
{
#pragma omp parallel for ordered schedule(static, 1) // none
  for (int i = 1; i < n; i++) {
    a[i] = 2 * b[i];
#pragma omp ordered
    a[i] += 0.5 * a[i - 1];
  }
}

void behind_the_ordered_region(int n, double *restrict a, double *restrict b, int *restrict k)
{
  double s = 0;
#pragma omp parallel for ordered schedule(static, 1) // race
  for (int i = 1; i < n; i++) {
#pragma omp ordered
    s += a[i - 1];
    a[i] = 2 * b[i];
  }
  b[0] = s;
}

void atomic_beside_what_it_reads(int n, double *restrict a, double *restrict b, int *restrict k)
{
#pragma omp parallel for // none
  for (int i = 1; i < n; i++) {
#pragma omp atomic
    k[0] += k[i];
  }
}

void atomic_on_one_of_two(int n, double *restrict a, double *restrict b, int *restrict k)
{
#pragma omp parallel for // race
  for (int i = 2; i < n; i++) {
#pragma omp atomic
    k[0] += k[1];
#pragma omp atomic
    k[1] += k[i];
  }
}
