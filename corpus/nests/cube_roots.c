/* Cube roots by Newton's method, each until a step changes little. */

void cube_roots(int n, int most, double eps, const double a[n], double root[n], int steps[n])
{
  int i, k;
  double x, d;

  for (i = 0; i < n; i++) {
    x = a[i] * a[i] + 1.0;
    for (k = 0; k < most; k++) {
      d = (x - (a[i] * a[i] + 1.0) / (x * x)) / 3.0;
      if (d * d < eps)
        break;
      x -= d;
    }
    root[i] = x;
    steps[i] = k;
  }
}
