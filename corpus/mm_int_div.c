/* Like a matrix product, with integer division for multiplication: C[i][j] = sum of A[i][k] / B[k][j].
   Elements of B are not zero; a kernel that computes with padding would divide by it. */

void mm_int_div(int M, int U, int N, int A[M][U], int B[U][N], int C[M][N])
{
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      int acc = 0;
      for (int k = 0; k < U; k++)
        acc += A[i][k] / B[k][j];
      C[i][j] = acc;
    }
}
