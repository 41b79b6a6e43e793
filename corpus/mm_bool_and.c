/* Like a matrix product over mixed types: int16 x double -> bool, reduced with && (neutral element 1).
   C[i][j] tells whether A[i][k] * B[k][j] < 13 for all k. The comparison stands before the &&, which
   would skip it otherwise: every element is read. */

#include <stdbool.h>
#include <stdint.h>

void mm_bool_and(int M, int U, int N, int16_t A[M][U], double B[U][N], bool C[M][N])
{
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      bool acc = 1;
      for (int k = 0; k < U; k++)
        acc = A[i][k] * B[k][j] < 13 && acc;
      C[i][j] = acc;
    }
}
