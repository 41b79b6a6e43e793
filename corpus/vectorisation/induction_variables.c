/* Induction variable recognition: scalars that follow the loop variable. Updating one carries a
   dependence; with its closed form in its place the loop would be parallel. */

void reversed(int n, double out[n], const double in[n])
{
  int from = n - 1;
  for (int i = 0; i < n; i++) { /* no: flow of from */
    out[i] = in[from];
    from--;
  }
}

/* Every third place. */
void spread(int n, double out[3 * n], const double in[n])
{
  int at = 0;
  for (int i = 0; i < n; i++) { /* no: flow of at */
    out[at] = in[i];
    at += 3;
  }
}

/* The same with the closed form written out. */
void spread_closed(int n, double out[3 * n], const double in[n])
{
  for (int i = 0; i < n; i++) /* yes */
    out[3 * i] = in[i];
}

/* A scalar computed anew from the loop variable carries nothing, once it is private. */
void mirrored(int n, double out[n], const double in[n])
{
  int from;
  for (int i = 0; i < n; i++) { /* privatizable from */
    from = n - 1 - i;
    out[i] = in[from] + in[i];
  }
}

/* One that counts through both loops. */
void flattened(int n, int m, double out[n * m], double in[n][m])
{
  int at = 0;
  for (int i = 0; i < n; i++)     /* no: flow of at */
    for (int j = 0; j < m; j++) { /* no: flow of at */
      out[at] = in[i][j];
      at++;
    }
}

/* Two in one body, the second follows the first. */
void pairs(int n, double out[4 * n + 2], const double in[n])
{
  int even = 0, odd = 1;
  for (int i = 0; i < n; i++) { /* no: flow of even */
    out[odd] = in[i];
    even = even + 2;
    odd = even + 1;
    out[even] = -in[i];
  }
}

/* The amount changes with the iteration: 0, 0, 1, 3, 6, ... */
void triangular_numbers(int n, double out[n * n + 1], const double in[n])
{
  int at = 0;
  for (int i = 0; i < n; i++) { /* no: flow of at */
    at += i;
    out[at] = in[i];
  }
}

/* Declared in the loop, it belongs to an iteration. */
void inner_counter(int n, double out[n][5], const double in[n])
{
  for (int i = 0; i < n; i++) { /* yes */
    int at = 4;
    for (int k = 0; k < 5; k++) { /* no: flow of at */
      out[i][at] = in[i] + k;
      at--;
    }
  }
}
