/* Storage classes: where an object lives, and for how long. */

extern double shared_in[40], shared_out[40];
static double hidden[41];
static int calls;

/* Arrays of the whole program. */
void between_globals(void)
{
  for (int i = 0; i < 40; i++) /* yes */
    shared_out[i] = shared_in[i] + 1;
}

/* Arrays of this file. */
void shift_hidden(void)
{
  for (int i = 0; i < 40; i++) /* no: anti of hidden, distance 1 */
    hidden[i] = hidden[i + 1];
}

/* A counter of this file, that only grows. */
void count_calls(int n, double out[n])
{
  for (int i = 0; i < n; i++) { /* reduction + of calls */
    calls++;
    out[i] = i;
  }
}

/* Storage that lives as long as one iteration. */
void automatic(int n, double out[n], const double x[n])
{
  for (int i = 0; i < n; i++) { /* yes */
    register double t = x[i];
    auto double u = t * t;
    out[i] = u - t;
  }
}

/* A local that outlives the calls carries its value through all iterations. */
double with_memory(int n, const double x[n])
{
  static double seen = 0;
  for (int i = 0; i < n; i++) /* reduction + of seen */
    seen += x[i];
  return seen;
}

/* The same name inside hides the one outside. */
double hiding(int n, double out[n], const double x[n])
{
  double t = 3;
  for (int i = 0; i < n; i++) { /* yes */
    double t = x[i];
    out[i] = t + 1;
  }
  return t;
}

/* Pointers that are promised to be apart, and one that is not an array. */
void promised(int n, double *restrict out, const double *restrict x, const double *factor)
{
  for (int i = 0; i < n; i++) /* yes */
    out[i] = x[i] * *factor;
}

/* Promised or not, one pointer is one array. */
void one_pointer(int n, double *restrict p)
{
  for (int i = 0; i < n; i++) /* no: flow of p, distance 1 */
    p[i + 1] = p[i];
}
