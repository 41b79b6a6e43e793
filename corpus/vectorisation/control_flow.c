/* Control flow: conditions in the loop. */

/* Each iteration decides for itself. */
void rectify(int n, double signal[n])
{
  for (int i = 0; i < n; i++) /* yes */
    if (signal[i] < 0)
      signal[i] = -signal[i];
}

void either(int n, double out[n], const double a[n], const double b[n])
{
  for (int i = 0; i < n; i++) { /* yes */
    if (a[i] > b[i])
      out[i] = a[i] - b[i];
    else
      out[i] = a[i] * b[i];
  }
}

/* Both branches write the temporary. */
void chosen_weight(int n, double out[n], const double a[n])
{
  double weight;
  for (int i = 0; i < n; i++) { /* privatizable weight */
    if (a[i] > 3)
      weight = 2;
    else
      weight = a[i] + 1;
    out[i] = a[i] * weight;
  }
}

/* Only one branch writes it: the data decide whether an old one is used. */
void sticky_weight(int n, double out[n], const double a[n])
{
  double weight = 1;
  for (int i = 0; i < n; i++) { /* unknown: flow of weight */
    if (a[i] > 3)
      weight = a[i];
    out[i] = a[i] * weight;
  }
}

/* The data decide whether there is a chain. */
void chained_where_positive(int n, double sum[n], const double a[n])
{
  for (int i = 1; i < n; i++) /* unknown: flow of sum */
    if (a[i] > 0)
      sum[i] = sum[i - 1] + a[i];
}

/* The chain is there whatever the data are. */
void chained_either_way(int n, double sum[n], const double a[n])
{
  for (int i = 1; i < n; i++) { /* no (unknown): flow of sum, distance 1 */
    if (a[i] > 0)
      sum[i] = sum[i - 1] + a[i];
    else
      sum[i] = sum[i - 1];
  }
}

/* A condition on the size, the same in all iterations. */
void smooth_if_large(int n, double a[n], const double b[n])
{
  for (int i = 1; i < n; i++) { /* no: flow of a, distance 1 */
    if (n > 4)
      a[i] = a[i - 1] + b[i];
    else
      a[i] = b[i];
  }
}

/* Conditions inside conditions, and one that leaves out the rest. */
void graded(int n, double out[n], const double a[n], const double b[n])
{
  for (int i = 0; i < n; i++) { /* yes */
    if (a[i] < 0)
      continue;
    if (b[i] < 0) {
      out[i] = a[i];
      if (a[i] > 4)
        out[i] += b[i];
    } else {
      out[i] = a[i] > b[i] ? a[i] : b[i];
    }
  }
}

/* A switch on the place. */
void by_remainder(int n, double out[n], const double a[n])
{
  for (int i = 0; i < n; i++) { /* yes */
    switch (i % 3) {
    case 0:
      out[i] = a[i];
      break;
    case 1:
      out[i] = -a[i];
      break;
    default:
      out[i] = 0;
      break;
    }
  }
}
