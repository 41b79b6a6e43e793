/* Indirect addressing: the place is read from memory. `unknown` says that the table decides. */

/* Reading from anywhere is free. */
void gather(int n, double out[n], const double in[n], const int from[n])
{
  for (int i = 0; i < n; i++) /* yes */
    out[i] = in[from[i]] * 2;
}

/* Writing to anywhere is not. */
void scatter(int n, double out[n], const double in[n], const int to[n])
{
  for (int i = 0; i < n; i++) /* unknown: output of out */
    out[to[i]] = in[i];
}

void permute_in_place(int n, double x[n], const int from[n])
{
  for (int i = 0; i < n; i++) /* unknown: flow of x */
    x[i] = x[from[i]] + 1;
}

/* Adding to anywhere is a reduction of the whole array. */
void deposit(int n, double density[n], const double charge[n], const int cell[n])
{
  for (int i = 0; i < n; i++) /* reduction + of density */
    density[cell[i]] += charge[i];
}

/* Adding, and reading what the sum is so far. */
void deposit_and_look(int n, double density[n], double seen[n], const int cell[n])
{
  for (int i = 0; i < n; i++) { /* unknown: flow of density */
    density[cell[i]] += 1;
    seen[i] = density[cell[i]];
  }
}

/* The table has a row for each iteration, and the target has as well. */
void rows_by_table(int n, int m, double out[n][m], const double in[m], int column[n][m])
{
  for (int i = 0; i < n; i++)   /* yes */
    for (int j = 0; j < m; j++) /* unknown: output of out */
      out[i][column[i][j]] = in[j] + i;
}

/* A sparse matrix times a vector. */
void sparse_product(int n, const int start[n + 1], const int column[n], const double value[n],
                    const double x[n], double y[n])
{
  for (int i = 0; i < n; i++) { /* yes */
    double sum = 0;
    for (int k = start[i]; k < start[i + 1]; k++) /* reduction + of sum */
      sum += value[k] * x[column[k]];
    y[i] = sum;
  }
}

/* The table is made in the loop, from the loop variable. */
void table_of_its_own(int n, double out[n + 4], const double in[n])
{
  int to;
  for (int i = 0; i < n; i++) { /* privatizable to */
    to = i + 4;
    out[to] = in[i];
  }
}

/* A table that is written and read in one loop. */
void links(int n, int next[n], double out[n])
{
  for (int i = 0; i + 1 < n; i++) { /* yes */
    next[i] = i + 1;
    out[i] = next[i];
  }
}
