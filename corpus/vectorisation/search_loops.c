/* Search loops: an iteration decides whether there is a next one. */

int first_negative(int n, const double x[n])
{
  int found = -1;
  for (int i = 0; i < n; i++) /* no (unknown): control */
    if (x[i] < 0) {
      found = i;
      break;
    }
  return found;
}

int has_value(int n, const double x[n], double wanted)
{
  for (int i = 0; i < n; i++) /* no (unknown): control */
    if (x[i] == wanted)
      return 1;
  return 0;
}

/* The last place instead of the first needs no early end: each iteration has a place of its own, and
   the last one that sets it counts. */
int last_negative(int n, const double x[n])
{
  int found = -1;
  for (int i = 0; i < n; i++) /* privatizable found */
    if (x[i] < 0)
      found = i;
  return found;
}

/* Whether there is one at all, by a flag: true or true is true in any order. */
int any_negative(int n, const double x[n])
{
  int any = 0;
  for (int i = 0; i < n; i++) /* reduction || of any */
    any = any || x[i] < 0;
  return any;
}

/* All rows are searched, each on its own, up to its first hit. */
void first_in_rows(int n, int m, double x[n][m], int place[n])
{
  for (int i = 0; i < n; i++) { /* yes (unknown) */
    place[i] = m;
    for (int j = 0; j < m; j++) /* no (unknown): control */
      if (x[i][j] > 5) {
        place[i] = j;
        break;
      }
  }
}

/* Copies up to a mark. */
int copy_until(int n, double out[n], const double x[n], double mark)
{
  int i;
  for (i = 0; i < n; i++) { /* no (unknown): control */
    if (x[i] == mark)
      break;
    out[i] = x[i];
  }
  return i;
}
