/* Sparse matrix times vector in compressed rows: the entries of row i are rowptr[i] to
   rowptr[i + 1] - 1. */

void csr(int n, int m, int nnz, const int rowptr[n + 1], const int col[nnz], const float val[nnz],
         const float x[m], float y[n])
{
  for (int i = 0; i < n; i++) {
    float sum = 0.0f;
    for (int e = rowptr[i]; e < rowptr[i + 1]; e++)
      sum += val[e] * x[col[e]];
    y[i] = sum;
  }
}
