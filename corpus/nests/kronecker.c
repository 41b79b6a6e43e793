/* The Kronecker product K = A (x) B: block (i, j) of K, in rows of n*q, is A[i][j] times B. */

void kronecker(int m, int n, int p, int q, const float A[m][n], const float B[p][q], float *K)
{
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < p; k++)
        for (int l = 0; l < q; l++)
          K[((i * p + k) * n + j) * q + l] = A[i][j] * B[k][l];
}
