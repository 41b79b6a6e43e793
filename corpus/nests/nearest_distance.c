/* Distance from each query to its nearest and second nearest data point, squared. */

void nearest_distance(int nq, int nd, int d, const float Q[nq][d], const float X[nd][d],
                      float best[nq], float second[nq])
{
  for (int i = 0; i < nq; i++) {
    float b = 3.0e38f, s = 3.0e38f;
    for (int j = 0; j < nd; j++) {
      float dist = 0.0f;
      for (int k = 0; k < d; k++)
        dist += (Q[i][k] - X[j][k]) * (Q[i][k] - X[j][k]);
      if (dist < b) {
        s = b;
        b = dist;
      } else if (dist < s)
        s = dist;
    }
    best[i] = b;
    second[i] = s;
  }
}
