/* Packing: what passes a test is moved together; the place depends on the tests before it. */

int gather_positive(int n, double kept[n], const double x[n])
{
  int count = 0;
  for (int i = 0; i < n; i++) /* unknown: flow of count */
    if (x[i] > 0) {
      kept[count] = x[i];
      count++;
    }
  return count;
}

/* The other way: places that pass take the next of the packed values. */
void scatter_back(int n, double x[n], const double kept[n], const double mask[n])
{
  int next = 0;
  for (int i = 0; i < n; i++) /* unknown: flow of next */
    if (mask[i] > 0) {
      x[i] = kept[next];
      next++;
    }
}

/* What passes goes to the front, the rest to the back; one of the two counters grows each time. */
void partition(int n, double out[n], const double x[n])
{
  int front = 0, back = n;
  for (int i = 0; i < n; i++) { /* no (unknown): flow of front */
    if (x[i] < 2) {
      out[front] = x[i];
      front++;
    } else {
      back--;
      out[back] = x[i];
    }
  }
}

/* Only the count: the order of the additions does not matter. */
int count_positive(int n, const double x[n])
{
  int count = 0;
  for (int i = 0; i < n; i++) /* reduction + of count */
    if (x[i] > 0)
      count++;
  return count;
}

/* With places that were computed before, nothing is left that goes from one to the next. */
void gather_every_second(int n, double kept[n], const double x[2 * n])
{
  for (int i = 0; i < 2 * n; i++) /* yes */
    if (i % 2 == 0)
      kept[i / 2] = x[i];
}
