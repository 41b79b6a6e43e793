/* Pairwise Euclidean distances between M points of A and N points of B in U dimensions. */

#include <math.h>

void distances(int M, int U, int N, double A[M][U], double B[N][U], double D[M][N])
{
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      double sum = 0;
      for (int k = 0; k < U; k++)
        sum += (A[i][k] - B[j][k]) * (A[i][k] - B[j][k]);
      D[i][j] = sqrt(sum);
    }
}
