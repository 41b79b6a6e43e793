/* Loop distribution: one statement is a recurrence, the others could have a loop of their own. */

void running_total_and_squares(int n, double total[n], double square[n], const double x[n])
{
  for (int i = 1; i < n; i++) { /* no: flow of total, distance 1 */
    total[i] = total[i - 1] + x[i];
    square[i] = x[i] * x[i];
  }
}

/* The two loops that it becomes. */
void distributed(int n, double total[n], double square[n], const double x[n])
{
  for (int i = 1; i < n; i++) /* no: flow of total, distance 1 */
    total[i] = total[i - 1] + x[i];
  for (int i = 1; i < n; i++) /* yes */
    square[i] = x[i] * x[i];
}

/* The recurrence is in the columns; what follows it needs the whole row. */
void decay_then_scale(int n, int m, double level[n][m], double out[n][m], const double rate[m])
{
  for (int i = 0; i < n; i++) /* yes */
    for (int j = 1; j < m; j++) { /* no: flow of level, distance 1 */
      level[i][j] = level[i][j - 1] * rate[j];
      out[i][j] = level[i][j] + level[i][j - 1];
    }
}

/* The first statement makes what the second needs from the iteration before: in two loops both
   would run as vectors. */
void produce_and_use(int n, double made[n], double used[n], const double x[n])
{
  for (int i = 1; i < n; i++) { /* no: flow of made, distance 1 */
    made[i] = x[i] + 7;
    used[i] = made[i - 1] * x[i];
  }
}
