/* Functions of the file and of <math.h> called in loops; structs by value; a histogram. */
#include <math.h>
#include <stdio.h>
#define N 400

typedef struct { double x, y; int kind; } point;
typedef struct { double lo, hi; int bins; } range;
static int counts[16];

static double length(double x, double y) { return sqrt(x * x + y * y); }

static int bin(double v, double lo, double hi, int bins)
{
  int k = (int)((v - lo) / (hi - lo) * bins);
  if (k < 0)
    return 0;
  return k >= bins ? bins - 1 : k;
}

static void turn(int n, point *p, double angle)
{
  double c = cos(angle), s = sin(angle);
  for (int i = 0; i < n; i++) {
    double x = p[i].x;
    p[i].x = c * x - s * p[i].y;
    p[i].y = s * x + c * p[i].y;
    p[i].kind ^= 1;
  }
}

static void count(range r, int n, const double *v)
{
  for (int b = 0; b < r.bins; b++)
    counts[b] = 0;
  for (int i = 0; i < n; i++)
    counts[bin(v[i], r.lo, r.hi, r.bins)]++;
}

int main(void)
{
  point p[N];
  double v[N];
  range r = { -10, 30, 16 };
  for (int i = 0; i < N; i++) {
    p[i].x = i * 0.25;
    p[i].y = 3 - i;
    p[i].kind = i % 3;
  }
  turn(N, p, 0.5);
  for (int i = 0; i < N; i++)
    v[i] = fmod(length(p[i].x, p[i].y), 40.0) - 5 + floor(p[i].kind * r.lo / 7);
  count(r, N, v);
  for (int i = 0; i < 16; i++)
    printf("%d\n", counts[i]);
  for (int i = 0; i < N; i++)
    printf("%.10g %.10g %.10g\n", p[i].x, p[i].y, v[i]);
  return 0;
}
