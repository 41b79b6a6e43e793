/* Statement reordering: in another order of the statements the loop would run as vectors. As it
   stands, a value goes from the later statement to the earlier one of the next iteration. */

void pressure_then_flux(int n, double pressure[n], double flux[n], const double area[n])
{
  for (int i = 1; i < n; i++) { /* no: flow of flux, distance 1 */
    pressure[i] = flux[i - 1] + area[i];
    flux[i] = area[i] * 3;
  }
}

/* The anti dependence goes the same way round, and carries as well. */
void keep_then_smooth(int n, double kept[n], double wave[n + 1], const double weight[n])
{
  for (int i = 0; i < n; i++) { /* no: anti of wave, distance 1 */
    kept[i] = wave[i + 1] * weight[i];
    wave[i] = weight[i] - 2;
  }
}

/* Three statements in a ring that is open in one place. */
void open_ring(int n, double a[n], double b[n], double c[n])
{
  for (int i = 1; i < n; i++) { /* no: flow of c, distance 1 */
    a[i] = c[i - 1] * 2;
    b[i] = a[i] + 1;
    c[i] = a[0] - i;
  }
}

/* The same statements with their order free: nothing goes to another iteration. */
void order_is_free(int n, double a[n], double b[n], const double c[n])
{
  for (int i = 1; i < n; i++) { /* yes */
    b[i] = c[i - 1] * c[i];
    a[i] = c[i] + 4;
  }
}
