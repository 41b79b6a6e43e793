/* Matrix product with its declarations at the top; the accumulator is shared by all iterations. */

#define U 20
#define N 26

void mm_c89(int M, double A[][U], double B[U][N], double C[][N])
{
  int i, j, k;
  double acc;

  for (i = 0; i < M; i++)
    for (j = 0; j < N; j++) {
      acc = 0.0;
      for (k = 0; k < U; k++)
        acc += A[i][k] * B[k][j];
      C[i][j] = acc;
    }
}
