/* The max-plus product, C[i][j] = max of A[i][k] + B[k][j]: the heaviest path of two edges. */

#include <limits.h>

void max_plus(int M, int U, int N, int A[M][U], int B[U][N], int C[M][N])
{
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      int best = INT_MIN;
      for (int k = 0; k < U; k++) {
        int sum = A[i][k] + B[k][j];
        if (sum > best)
          best = sum;
      }
      C[i][j] = best;
    }
}
