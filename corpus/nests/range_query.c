/* For every query box, how many points lie inside: operators && and a count. */

void range_query(int q, int n, const float lo[q][2], const float hi[q][2], const float pt[n][2],
                 int count[q])
{
  for (int i = 0; i < q; i++) {
    int c = 0;
    for (int k = 0; k < n; k++)
      if (lo[i][0] <= pt[k][0] && pt[k][0] < hi[i][0] && lo[i][1] <= pt[k][1]
          && pt[k][1] < hi[i][1])
        c++;
    count[i] = c;
  }
}
