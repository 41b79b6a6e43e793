/* Median of every 3 x 3 neighbourhood by a network of minima and maxima. */

#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))

void median_3x3(int h, int w, const short in[h][w], short out[h][w])
{
  int i, j;
  for (i = 1; i < h - 1; i++)
    for (j = 1; j < w - 1; j++) {
      int lo[3], mid[3], hi[3], r, a, b, c, d;
      for (r = 0; r < 3; r++) {
        a = in[i + r - 1][j - 1];
        b = in[i + r - 1][j];
        c = in[i + r - 1][j + 1];
        d = MAX(MIN(a, b), MIN(MAX(a, b), c));
        lo[r] = MIN(MIN(a, b), c);
        hi[r] = MAX(MAX(a, b), c);
        mid[r] = d;
      }
      a = MAX(MAX(lo[0], lo[1]), lo[2]);
      b = MAX(MIN(mid[0], mid[1]), MIN(MAX(mid[0], mid[1]), mid[2]));
      c = MIN(MIN(hi[0], hi[1]), hi[2]);
      out[i][j] = MAX(MIN(a, b), MIN(MAX(a, b), c));
    }
}
