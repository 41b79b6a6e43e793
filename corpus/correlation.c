/* Rows of A against rows of B, two sums at once: the cosine of the angle, with |B[j]| found on the way. */

#include <math.h>

void correlation(int M, int U, int N, double A[M][U], double B[N][U], double C[M][N])
{
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      double product = 0, norms = 0;
      for (int k = 0; k < U; k++) {
        product += A[i][k] * B[j][k];
        norms += A[i][k] * A[i][k] + B[j][k] * B[j][k];
      }
      C[i][j] = 2 * product / norms;
    }
}
