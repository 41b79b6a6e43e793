/* Parameters that are set, counters that are read after their loops, results through pointers. */

void set_parameters(int n, int m, int k, int count, float scale, float a[n], int b[m], int *counted,
                    float *scaled, int *last)
{
  int i;

  for (i = 1; i < n; i++)
    a[i] = a[i] * scale + i;
  count += i;
  for (i = m - 1; i >= 0; i--)
    b[i] -= count;
  count = count - i;
  for (k = 0; k < m; k++)
    count += b[k] > 0;
  for (i = 0; i < n; i++)
    scale = scale * 0.5f + a[i];
  k = k / 2;
  for (i = k; i < m; i++)
    b[i] += count * k;
  for (i = 0; i < n; i++)
    a[i] -= scale;
  *counted = count;
  *scaled = scale;
  last[0] = i + k;
}
