/* A contraction of two tensors over two indices, each of them in an order of its own. */

void contract(int na, int nb, int nc, int nd, int ne, int nf,
              const float A[na][ne][nb][nf], const float B[nf][nd][nc][ne],
              float C[na][nb][nc][nd])
{
  for (int a = 0; a < na; a++)
    for (int b = 0; b < nb; b++)
      for (int c = 0; c < nc; c++)
        for (int d = 0; d < nd; d++) {
          float s = 0.0f;
          for (int e = 0; e < ne; e++)
            for (int f = 0; f < nf; f++)
              s += A[a][e][b][f] * B[f][d][c][e];
          C[a][b][c][d] = s;
        }
}
