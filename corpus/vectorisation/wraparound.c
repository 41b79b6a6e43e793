/* Wrap-around variables: a scalar that brings a place of the iteration before. */

/* Around a closed curve, from its last point on. */
void edges(int n, double edge[n], const double point[n])
{
  int before = n - 1;
  for (int i = 0; i < n; i++) { /* no: flow of before */
    edge[i] = point[i] - point[before];
    before = i;
  }
}

/* Two iterations back, by way of two scalars. */
void second_differences(int n, double out[n], const double point[n])
{
  int before = n - 1, two_before = n - 2;
  for (int i = 0; i < n; i++) { /* no: flow of before */
    out[i] = point[i] - 2 * point[before] + point[two_before];
    two_before = before;
    before = i;
  }
}

/* The value itself is carried, not its place. */
void carried_value(int n, double out[n], const double point[n])
{
  double last = point[0];
  for (int i = 0; i < n; i++) { /* no: flow of last */
    out[i] = point[i] * last;
    last = point[i];
  }
}

/* The first iteration peeled off by hand. */
void edges_peeled(int n, double edge[n], const double point[n])
{
  edge[0] = point[0] - point[n - 1];
  for (int i = 1; i < n; i++) /* yes */
    edge[i] = point[i] - point[i - 1];
}

/* The remainder says it in one formula. */
void edges_by_remainder(int n, double edge[n], const double point[n])
{
  for (int i = 0; i < n; i++) /* yes */
    edge[i] = point[i] - point[(i + n - 1) % n];
}
