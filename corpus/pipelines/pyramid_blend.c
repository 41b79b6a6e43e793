/* Two images blended by a mask, one octave of frequencies at a time (Burt and Adelson, "A multiresolution
   spline with application to image mosaics", 1983): Gaussian pyramids of both and of the mask, Laplacian
   pyramids, their weighted sums, and the sum of all levels. Coordinates are clamped at every level. */

#define AT(i, n) ((i) < 0 ? 0 : (i) > (n) - 1 ? (n) - 1 : (i))
#define H1 ((h + 1) / 2)
#define W1 ((w + 1) / 2)
#define H2 ((H1 + 1) / 2)
#define W2 ((W1 + 1) / 2)
#define H3 ((H2 + 1) / 2)
#define W3 ((W2 + 1) / 2)
#define DOWN_X(src, y, x, n) \
  ((src[c][y][AT(2 * x - 2, n)] + 4 * src[c][y][AT(2 * x - 1, n)] + 6 * src[c][y][AT(2 * x, n)] \
    + 4 * src[c][y][AT(2 * x + 1, n)] + src[c][y][AT(2 * x + 2, n)]) * 0.0625f)
#define DOWN_Y(src, y, x, n) \
  ((src[c][AT(2 * y - 2, n)][x] + 4 * src[c][AT(2 * y - 1, n)][x] + 6 * src[c][AT(2 * y, n)][x] \
    + 4 * src[c][AT(2 * y + 1, n)][x] + src[c][AT(2 * y + 2, n)][x]) * 0.0625f)
#define UP_X(src, y, x, n) \
  (x % 2 == 0 ? (src[c][y][AT(x / 2 - 1, n)] + 6 * src[c][y][AT(x / 2, n)] \
                 + src[c][y][AT(x / 2 + 1, n)]) * 0.125f \
              : (src[c][y][AT(x / 2, n)] + src[c][y][AT(x / 2 + 1, n)]) * 0.5f)
#define UP_Y(src, y, x, n) \
  (y % 2 == 0 ? (src[c][AT(y / 2 - 1, n)][x] + 6 * src[c][AT(y / 2, n)][x] \
                 + src[c][AT(y / 2 + 1, n)][x]) * 0.125f \
              : (src[c][AT(y / 2, n)][x] + src[c][AT(y / 2 + 1, n)][x]) * 0.5f)

void pyramid_blend(int h, int w, const float a[3][h][w], const float b[3][h][w],
                   const float mask[1][h][w], float out[3][h][w])
{
  float ax1[3][h][W1], a1[3][H1][W1];
  float ax2[3][H1][W2], a2[3][H2][W2];
  float ax3[3][H2][W3], a3[3][H3][W3];
  float bx1[3][h][W1], b1[3][H1][W1];
  float bx2[3][H1][W2], b2[3][H2][W2];
  float bx3[3][H2][W3], b3[3][H3][W3];
  float maskx1[1][h][W1], mask1[1][H1][W1];
  float maskx2[1][H1][W2], mask2[1][H2][W2];
  float maskx3[1][H2][W3], mask3[1][H3][W3];
  float au0[3][h][w], av0[3][H1][w];
  float au1[3][H1][W1], av1[3][H2][W1];
  float au2[3][H2][W2], av2[3][H3][W2];
  float bu0[3][h][w], bv0[3][H1][w];
  float bu1[3][H1][W1], bv1[3][H2][W1];
  float bu2[3][H2][W2], bv2[3][H3][W2];
  float l0[3][h][w];
  float l1[3][H1][W1];
  float l2[3][H2][W2];
  float o1[3][H1][W1];
  float o2[3][H2][W2];
  float o3[3][H3][W3];
  float ox0[3][H1][w];
  float ox1[3][H2][W1];
  float ox2[3][H3][W2];

  for (int c = 0; c < 3; c++)
    for (int y = 0; y < h; y++)
      for (int x = 0; x < W1; x++)
        ax1[c][y][x] = DOWN_X(a, y, x, w);
  for (int c = 0; c < 3; c++)
    for (int y = 0; y < H1; y++)
      for (int x = 0; x < W1; x++)
        a1[c][y][x] = DOWN_Y(ax1, y, x, h);
  for (int c = 0; c < 3; c++)
    for (int y = 0; y < h; y++)
      for (int x = 0; x < W1; x++)
        bx1[c][y][x] = DOWN_X(b, y, x, w);
  for (int c = 0; c < 3; c++)
    for (int y = 0; y < H1; y++)
      for (int x = 0; x < W1; x++)
        b1[c][y][x] = DOWN_Y(bx1, y, x, h);
  for (int c = 0; c < 1; c++)
    for (int y = 0; y < h; y++)
      for (int x = 0; x < W1; x++)
        maskx1[c][y][x] = DOWN_X(mask, y, x, w);
  for (int c = 0; c < 1; c++)
    for (int y = 0; y < H1; y++)
      for (int x = 0; x < W1; x++)
        mask1[c][y][x] = DOWN_Y(maskx1, y, x, h);
  for (int c = 0; c < 3; c++)
    for (int y = 0; y < H1; y++)
      for (int x = 0; x < W2; x++)
        ax2[c][y][x] = DOWN_X(a1, y, x, W1);
  for (int c = 0; c < 3; c++)
    for (int y = 0; y < H2; y++)
      for (int x = 0; x < W2; x++)
        a2[c][y][x] = DOWN_Y(ax2, y, x, H1);
  for (int c = 0; c < 3; c++)
    for (int y = 0; y < H1; y++)
      for (int x = 0; x < W2; x++)
        bx2[c][y][x] = DOWN_X(b1, y, x, W1);
  for (int c = 0; c < 3; c++)
    for (int y = 0; y < H2; y++)
      for (int x = 0; x < W2; x++)
        b2[c][y][x] = DOWN_Y(bx2, y, x, H1);
  for (int c = 0; c < 1; c++)
    for (int y = 0; y < H1; y++)
      for (int x = 0; x < W2; x++)
        maskx2[c][y][x] = DOWN_X(mask1, y, x, W1);
  for (int c = 0; c < 1; c++)
    for (int y = 0; y < H2; y++)
      for (int x = 0; x < W2; x++)
        mask2[c][y][x] = DOWN_Y(maskx2, y, x, H1);
  for (int c = 0; c < 3; c++)
    for (int y = 0; y < H2; y++)
      for (int x = 0; x < W3; x++)
        ax3[c][y][x] = DOWN_X(a2, y, x, W2);
  for (int c = 0; c < 3; c++)
    for (int y = 0; y < H3; y++)
      for (int x = 0; x < W3; x++)
        a3[c][y][x] = DOWN_Y(ax3, y, x, H2);
  for (int c = 0; c < 3; c++)
    for (int y = 0; y < H2; y++)
      for (int x = 0; x < W3; x++)
        bx3[c][y][x] = DOWN_X(b2, y, x, W2);
  for (int c = 0; c < 3; c++)
    for (int y = 0; y < H3; y++)
      for (int x = 0; x < W3; x++)
        b3[c][y][x] = DOWN_Y(bx3, y, x, H2);
  for (int c = 0; c < 1; c++)
    for (int y = 0; y < H2; y++)
      for (int x = 0; x < W3; x++)
        maskx3[c][y][x] = DOWN_X(mask2, y, x, W2);
  for (int c = 0; c < 1; c++)
    for (int y = 0; y < H3; y++)
      for (int x = 0; x < W3; x++)
        mask3[c][y][x] = DOWN_Y(maskx3, y, x, H2);
  for (int c = 0; c < 3; c++)
    for (int y = 0; y < H1; y++)
      for (int x = 0; x < w; x++)
        av0[c][y][x] = UP_X(a1, y, x, W1);
  for (int c = 0; c < 3; c++)
    for (int y = 0; y < h; y++)
      for (int x = 0; x < w; x++)
        au0[c][y][x] = a[c][y][x] - UP_Y(av0, y, x, H1);
  for (int c = 0; c < 3; c++)
    for (int y = 0; y < H1; y++)
      for (int x = 0; x < w; x++)
        bv0[c][y][x] = UP_X(b1, y, x, W1);
  for (int c = 0; c < 3; c++)
    for (int y = 0; y < h; y++)
      for (int x = 0; x < w; x++)
        bu0[c][y][x] = b[c][y][x] - UP_Y(bv0, y, x, H1);
  for (int c = 0; c < 3; c++)
    for (int y = 0; y < h; y++)
      for (int x = 0; x < w; x++)
        l0[c][y][x] = au0[c][y][x] * mask[0][y][x]
                     + bu0[c][y][x] * (1 - mask[0][y][x]);
  for (int c = 0; c < 3; c++)
    for (int y = 0; y < H2; y++)
      for (int x = 0; x < W1; x++)
        av1[c][y][x] = UP_X(a2, y, x, W2);
  for (int c = 0; c < 3; c++)
    for (int y = 0; y < H1; y++)
      for (int x = 0; x < W1; x++)
        au1[c][y][x] = a1[c][y][x] - UP_Y(av1, y, x, H2);
  for (int c = 0; c < 3; c++)
    for (int y = 0; y < H2; y++)
      for (int x = 0; x < W1; x++)
        bv1[c][y][x] = UP_X(b2, y, x, W2);
  for (int c = 0; c < 3; c++)
    for (int y = 0; y < H1; y++)
      for (int x = 0; x < W1; x++)
        bu1[c][y][x] = b1[c][y][x] - UP_Y(bv1, y, x, H2);
  for (int c = 0; c < 3; c++)
    for (int y = 0; y < H1; y++)
      for (int x = 0; x < W1; x++)
        l1[c][y][x] = au1[c][y][x] * mask1[0][y][x]
                     + bu1[c][y][x] * (1 - mask1[0][y][x]);
  for (int c = 0; c < 3; c++)
    for (int y = 0; y < H3; y++)
      for (int x = 0; x < W2; x++)
        av2[c][y][x] = UP_X(a3, y, x, W3);
  for (int c = 0; c < 3; c++)
    for (int y = 0; y < H2; y++)
      for (int x = 0; x < W2; x++)
        au2[c][y][x] = a2[c][y][x] - UP_Y(av2, y, x, H3);
  for (int c = 0; c < 3; c++)
    for (int y = 0; y < H3; y++)
      for (int x = 0; x < W2; x++)
        bv2[c][y][x] = UP_X(b3, y, x, W3);
  for (int c = 0; c < 3; c++)
    for (int y = 0; y < H2; y++)
      for (int x = 0; x < W2; x++)
        bu2[c][y][x] = b2[c][y][x] - UP_Y(bv2, y, x, H3);
  for (int c = 0; c < 3; c++)
    for (int y = 0; y < H2; y++)
      for (int x = 0; x < W2; x++)
        l2[c][y][x] = au2[c][y][x] * mask2[0][y][x]
                     + bu2[c][y][x] * (1 - mask2[0][y][x]);
  for (int c = 0; c < 3; c++)
    for (int y = 0; y < H3; y++)
      for (int x = 0; x < W3; x++)
        o3[c][y][x] = a3[c][y][x] * mask3[0][y][x] + b3[c][y][x] * (1 - mask3[0][y][x]);
  for (int c = 0; c < 3; c++)
    for (int y = 0; y < H3; y++)
      for (int x = 0; x < W2; x++)
        ox2[c][y][x] = UP_X(o3, y, x, W3);
  for (int c = 0; c < 3; c++)
    for (int y = 0; y < H2; y++)
      for (int x = 0; x < W2; x++)
        o2[c][y][x] = l2[c][y][x] + UP_Y(ox2, y, x, H3);
  for (int c = 0; c < 3; c++)
    for (int y = 0; y < H2; y++)
      for (int x = 0; x < W1; x++)
        ox1[c][y][x] = UP_X(o2, y, x, W2);
  for (int c = 0; c < 3; c++)
    for (int y = 0; y < H1; y++)
      for (int x = 0; x < W1; x++)
        o1[c][y][x] = l1[c][y][x] + UP_Y(ox1, y, x, H2);
  for (int c = 0; c < 3; c++)
    for (int y = 0; y < H1; y++)
      for (int x = 0; x < w; x++)
        ox0[c][y][x] = UP_X(o1, y, x, W1);
  for (int c = 0; c < 3; c++)
    for (int y = 0; y < h; y++)
      for (int x = 0; x < w; x++)
        out[c][y][x] = l0[c][y][x] + UP_Y(ox0, y, x, H1);
}
