/* Intrinsic functions: functions of the library that only compute. */
#include <math.h>

void lengths(int n, double out[n], const double x[n], const double y[n])
{
  for (int i = 0; i < n; i++) /* yes */
    out[i] = sqrt(x[i] * x[i] + y[i] * y[i]);
}

void waves(int n, double s[n], double c[n], const double phase[n])
{
  for (int i = 0; i < n; i++) { /* yes */
    s[i] = sin(phase[i]);
    c[i] = cos(phase[i]) * exp(-fabs(phase[i]));
  }
}

/* The largest by a function of the library. */
double norm(int n, const double x[n])
{
  double top = 0;
  for (int i = 0; i < n; i++) /* reduction max of top */
    top = fmax(top, fabs(x[i]));
  return top;
}

double entropy(int n, const double p[n])
{
  double sum = 0;
  for (int i = 0; i < n; i++) /* reduction + of sum */
    sum -= p[i] * log(p[i]);
  return sum;
}

/* A function of the value before: a chain. */
void orbit(int n, double x[n])
{
  for (int i = 1; i < n; i++) /* no: flow of x, distance 1 */
    x[i] = cos(x[i - 1]);
}

/* Clamped between two limits. */
void clamp(int n, double x[n], double low, double high)
{
  for (int i = 0; i < n; i++) /* yes */
    x[i] = fmin(fmax(x[i], low), high);
}

/* Rounded to a place in a table, and counted there. */
void nearest(int n, double table[n], const double x[n])
{
  for (int i = 0; i < n; i++) /* unknown: output of table */
    table[(int)floor(fabs(x[i]))] = x[i];
}
