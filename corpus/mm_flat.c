/* Matrix product on plain pointers, rows computed by hand. */

void mm_flat(int M, int U, int N, const float *restrict A, const float *restrict B, float *restrict C)
{
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      float acc = 0.0f;
      for (int k = 0; k < U; k++)
        acc += A[i * U + k] * B[k * N + j];
      C[i * N + j] = acc;
    }
}
