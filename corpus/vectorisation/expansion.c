/* Scalar and array expansion: temporaries that every iteration fills anew, and that belong to it. */

double scale;

/* The usual temporary. */
void exchange(int n, double a[n], double b[n])
{
  double held;
  for (int i = 0; i < n; i++) { /* privatizable held */
    held = a[i];
    a[i] = b[i];
    b[i] = held;
  }
}

/* Two, the second made from the first. */
void two_stages(int n, double out[n], const double x[n])
{
  double first, second;
  for (int i = 0; i < n; i++) { /* privatizable first, second */
    first = x[i] + 2;
    second = first * first;
    out[i] = second - first;
  }
}

/* The last value is used after the loop. */
double last_of(int n, double out[n], const double x[n])
{
  double value = 0;
  for (int i = 0; i < n; i++) { /* privatizable value */
    value = x[i] * 3;
    out[i] = value + 1;
  }
  return value;
}

/* The temporary is read before it is written: it carries its value on. */
void one_behind(int n, double out[n], const double x[n])
{
  double before = 0;
  for (int i = 0; i < n; i++) { /* no: flow of before */
    out[i] = before;
    before = x[i] + 1;
  }
}

/* A global is seen by the caller: its last value stays. */
void through_a_global(int n, double out[n], const double x[n])
{
  for (int i = 0; i < n; i++) { /* privatizable scale */
    scale = x[i] + 1;
    out[i] = scale * scale;
  }
}

/* A work array declared outside of the loop. */
void work_array(int n, double out[n][6], double in[n][6])
{
  double row[6];
  for (int i = 0; i < n; i++) { /* privatizable row */
    for (int k = 0; k < 6; k++) /* yes */
      row[k] = in[i][5 - k];
    for (int k = 0; k < 6; k++) /* yes */
      out[i][k] = row[k] + in[i][k];
  }
}

/* Declared in the loop it is private without a word. */
void own_work_array(int n, double out[n][6], double in[n][6])
{
  for (int i = 0; i < n; i++) { /* yes */
    double row[6];
    for (int k = 0; k < 6; k++) /* yes */
      row[k] = in[i][5 - k];
    for (int k = 0; k < 6; k++) /* yes */
      out[i][k] = row[k] + in[i][k];
  }
}

/* The work array keeps one element from the row before. */
void work_array_kept(int n, double out[n][6], double in[n][6])
{
  double row[6];
  row[0] = 0;
  for (int i = 0; i < n; i++) { /* no: flow of row */
    for (int k = 1; k < 6; k++) /* yes */
      row[k] = in[i][k];
    for (int k = 0; k < 6; k++) /* yes */
      out[i][k] = row[k];
    row[0] = in[i][0];
  }
}

/* The array of the caller shows what is left in it. */
void callers_array(int n, double out[n], double work[4], const double x[n])
{
  for (int i = 0; i < n; i++) { /* no: output of work */
    for (int k = 0; k < 4; k++) /* yes */
      work[k] = x[i] * k;
    out[i] = work[1] + work[3];
  }
}

/* A temporary that only one branch writes and reads. */
void conditional_temporary(int n, double out[n], const double x[n])
{
  double t;
  for (int i = 0; i < n; i++) /* privatizable t */
    if (x[i] > 0) {
      t = x[i] * x[i];
      out[i] = t + 1;
    }
}

/* A factorial in a nest: the scalar starts anew in every row. */
void powers(int n, double out[n][7], const double x[n])
{
  double p;
  for (int i = 0; i < n; i++) { /* privatizable p */
    p = 1;
    for (int k = 0; k < 7; k++) { /* no: flow of p */
      out[i][k] = p;
      p = p * x[i];
    }
  }
}
