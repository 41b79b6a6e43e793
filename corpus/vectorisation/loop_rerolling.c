/* Loop rerolling: a body that was unrolled by hand, each part for an element of its own. */

void axpy_by_four(int n, double a, double y[4 * n], const double x[4 * n])
{
  for (int i = 0; i < 4 * n; i += 4) { /* yes */
    y[i] += a * x[i];
    y[i + 1] += a * x[i + 1];
    y[i + 2] += a * x[i + 2];
    y[i + 3] += a * x[i + 3];
  }
}

/* The same through a table of places. */
void gather_by_two(int n, double y[2 * n], const double x[2 * n], const int place[2 * n])
{
  for (int i = 0; i < 2 * n; i += 2) { /* yes */
    y[i] += x[place[i]];
    y[i + 1] += x[place[i + 1]];
  }
}

/* A sum in five parts. */
double dot_by_five(int n, const double x[5 * n], const double y[5 * n])
{
  double sum = 0;
  for (int i = 0; i < 5 * n; i += 5) /* reduction + of sum */
    sum = sum + x[i] * y[i] + x[i + 1] * y[i + 1] + x[i + 2] * y[i + 2] + x[i + 3] * y[i + 3]
          + x[i + 4] * y[i + 4];
  return sum;
}

/* Two sums side by side, added up at the end. */
double sum_in_two(int n, const double x[2 * n])
{
  double even = 0, odd = 0;
  for (int i = 0; i < 2 * n; i += 2) { /* reduction + of even, + of odd */
    even += x[i];
    odd += x[i + 1];
  }
  return even + odd;
}

/* A running sum by hand stays one: the second element needs the first, the third the second. */
void running_by_two(int n, double y[2 * n + 1])
{
  for (int i = 1; i < 2 * n; i += 2) { /* no: flow of y, distance 1 */
    y[i] += y[i - 1];
    y[i + 1] += y[i];
  }
}
