/* Kernels that are repeated so that they can be timed, each time shown to a function of another
   file. What that does is not known, the kernel inside is judged all the same. */

void show(int n, double *out, double *x);
double clock_now(void);

static int nothing(void)
{
  return 0;
}

void repeated(int n, double out[n], double x[n])
{
  for (int round = 0; round < 100; round++) { /* unknown: effects */
    for (int i = 0; i < n; i++) { /* yes */
      out[i] = 2 * x[i];
    }
    show(n, out, x);
  }
}

double repeated_sum(int n, double x[n])
{
  double sum = 0, start = clock_now();
  for (int round = 0; round < 100; round++) { /* unknown: effects */
    sum = 0;
    for (int i = 0; i < n; i++) { /* reduction + of sum */
      sum += x[i];
    }
    show(n, x, x);
  }
  return sum + clock_now() - start;
}

/* A call that comes to nothing, and an array of another file that is declared in the block. */
void with_a_call_of_nothing(int n, double out[n])
{
  extern double table[64];
  for (int i = 0; i < n; i++) { /* yes */
    nothing();
    out[i] = table[i];
  }
}

/* The call stands between two kernels. */
void between(int n, double out[n], double x[n])
{
  for (int i = 1; i < n; i++) { /* no: flow of x, distance 1 */
    x[i] += x[i - 1];
  }
  nothing();
  for (int i = 0; i < n; i++) { /* yes */
    out[i] = x[i];
  }
}
