/* Pixels with weights, where the weight is small filled in from coarser levels of an image pyramid:
   colours times alpha and alpha, halved again and again, then interpolated back. Coordinates are clamped
   at every level. */

#define AT(i, n) ((i) < 0 ? 0 : (i) > (n) - 1 ? (n) - 1 : (i))
#define H1 ((h + 1) / 2)
#define W1 ((w + 1) / 2)
#define H2 ((H1 + 1) / 2)
#define W2 ((W1 + 1) / 2)
#define H3 ((H2 + 1) / 2)
#define W3 ((W2 + 1) / 2)
#define H4 ((H3 + 1) / 2)
#define W4 ((W3 + 1) / 2)

void interpolate(int h, int w, const float in[4][h][w], float out[3][h][w])
{
  float d0[4][h][w], i0[4][h][w];
  float dx1[4][h][W1], d1[4][H1][W1];
  float dx2[4][H1][W2], d2[4][H2][W2];
  float dx3[4][H2][W3], d3[4][H3][W3];
  float dx4[4][H3][W4], d4[4][H4][W4];
  float ux0[4][H1][w], u0[4][h][w];
  float ux1[4][H2][W1], u1[4][H1][W1];
  float ux2[4][H3][W2], u2[4][H2][W2];
  float ux3[4][H4][W3], u3[4][H3][W3];
  float i1[4][H1][W1];
  float i2[4][H2][W2];
  float i3[4][H3][W3];

  for (int c = 0; c < 4; c++)
    for (int y = 0; y < h; y++)
      for (int x = 0; x < w; x++)
        d0[c][y][x] = c < 3 ? in[c][y][x] * in[3][y][x] : in[3][y][x];
  for (int c = 0; c < 4; c++)
    for (int y = 0; y < h; y++)
      for (int x = 0; x < W1; x++)
        dx1[c][y][x] = (d0[c][y][AT(2 * x - 1, w)] + 2 * d0[c][y][AT(2 * x, w)]
                        + d0[c][y][AT(2 * x + 1, w)]) * 0.25f;
  for (int c = 0; c < 4; c++)
    for (int y = 0; y < H1; y++)
      for (int x = 0; x < W1; x++)
        d1[c][y][x] = (dx1[c][AT(2 * y - 1, h)][x] + 2 * dx1[c][AT(2 * y, h)][x]
                       + dx1[c][AT(2 * y + 1, h)][x]) * 0.25f;
  for (int c = 0; c < 4; c++)
    for (int y = 0; y < H1; y++)
      for (int x = 0; x < W2; x++)
        dx2[c][y][x] = (d1[c][y][AT(2 * x - 1, W1)] + 2 * d1[c][y][AT(2 * x, W1)]
                        + d1[c][y][AT(2 * x + 1, W1)]) * 0.25f;
  for (int c = 0; c < 4; c++)
    for (int y = 0; y < H2; y++)
      for (int x = 0; x < W2; x++)
        d2[c][y][x] = (dx2[c][AT(2 * y - 1, H1)][x] + 2 * dx2[c][AT(2 * y, H1)][x]
                       + dx2[c][AT(2 * y + 1, H1)][x]) * 0.25f;
  for (int c = 0; c < 4; c++)
    for (int y = 0; y < H2; y++)
      for (int x = 0; x < W3; x++)
        dx3[c][y][x] = (d2[c][y][AT(2 * x - 1, W2)] + 2 * d2[c][y][AT(2 * x, W2)]
                        + d2[c][y][AT(2 * x + 1, W2)]) * 0.25f;
  for (int c = 0; c < 4; c++)
    for (int y = 0; y < H3; y++)
      for (int x = 0; x < W3; x++)
        d3[c][y][x] = (dx3[c][AT(2 * y - 1, H2)][x] + 2 * dx3[c][AT(2 * y, H2)][x]
                       + dx3[c][AT(2 * y + 1, H2)][x]) * 0.25f;
  for (int c = 0; c < 4; c++)
    for (int y = 0; y < H3; y++)
      for (int x = 0; x < W4; x++)
        dx4[c][y][x] = (d3[c][y][AT(2 * x - 1, W3)] + 2 * d3[c][y][AT(2 * x, W3)]
                        + d3[c][y][AT(2 * x + 1, W3)]) * 0.25f;
  for (int c = 0; c < 4; c++)
    for (int y = 0; y < H4; y++)
      for (int x = 0; x < W4; x++)
        d4[c][y][x] = (dx4[c][AT(2 * y - 1, H3)][x] + 2 * dx4[c][AT(2 * y, H3)][x]
                       + dx4[c][AT(2 * y + 1, H3)][x]) * 0.25f;
  for (int c = 0; c < 4; c++)
    for (int y = 0; y < H4; y++)
      for (int x = 0; x < W3; x++)
        ux3[c][y][x] = (d4[c][y][x / 2] + d4[c][y][AT((x + 1) / 2, W4)]) * 0.5f;
  for (int c = 0; c < 4; c++)
    for (int y = 0; y < H3; y++)
      for (int x = 0; x < W3; x++)
        u3[c][y][x] = (ux3[c][y / 2][x] + ux3[c][AT((y + 1) / 2, H4)][x]) * 0.5f;
  for (int c = 0; c < 4; c++)
    for (int y = 0; y < H3; y++)
      for (int x = 0; x < W3; x++)
        i3[c][y][x] = d3[c][y][x] + (1 - d3[3][y][x]) * u3[c][y][x];
  for (int c = 0; c < 4; c++)
    for (int y = 0; y < H3; y++)
      for (int x = 0; x < W2; x++)
        ux2[c][y][x] = (i3[c][y][x / 2] + i3[c][y][AT((x + 1) / 2, W3)]) * 0.5f;
  for (int c = 0; c < 4; c++)
    for (int y = 0; y < H2; y++)
      for (int x = 0; x < W2; x++)
        u2[c][y][x] = (ux2[c][y / 2][x] + ux2[c][AT((y + 1) / 2, H3)][x]) * 0.5f;
  for (int c = 0; c < 4; c++)
    for (int y = 0; y < H2; y++)
      for (int x = 0; x < W2; x++)
        i2[c][y][x] = d2[c][y][x] + (1 - d2[3][y][x]) * u2[c][y][x];
  for (int c = 0; c < 4; c++)
    for (int y = 0; y < H2; y++)
      for (int x = 0; x < W1; x++)
        ux1[c][y][x] = (i2[c][y][x / 2] + i2[c][y][AT((x + 1) / 2, W2)]) * 0.5f;
  for (int c = 0; c < 4; c++)
    for (int y = 0; y < H1; y++)
      for (int x = 0; x < W1; x++)
        u1[c][y][x] = (ux1[c][y / 2][x] + ux1[c][AT((y + 1) / 2, H2)][x]) * 0.5f;
  for (int c = 0; c < 4; c++)
    for (int y = 0; y < H1; y++)
      for (int x = 0; x < W1; x++)
        i1[c][y][x] = d1[c][y][x] + (1 - d1[3][y][x]) * u1[c][y][x];
  for (int c = 0; c < 4; c++)
    for (int y = 0; y < H1; y++)
      for (int x = 0; x < w; x++)
        ux0[c][y][x] = (i1[c][y][x / 2] + i1[c][y][AT((x + 1) / 2, W1)]) * 0.5f;
  for (int c = 0; c < 4; c++)
    for (int y = 0; y < h; y++)
      for (int x = 0; x < w; x++)
        u0[c][y][x] = (ux0[c][y / 2][x] + ux0[c][AT((y + 1) / 2, H1)][x]) * 0.5f;
  for (int c = 0; c < 4; c++)
    for (int y = 0; y < h; y++)
      for (int x = 0; x < w; x++)
        i0[c][y][x] = d0[c][y][x] + (1 - d0[3][y][x]) * u0[c][y][x];
  for (int c = 0; c < 3; c++)
    for (int y = 0; y < h; y++)
      for (int x = 0; x < w; x++)
        out[c][y][x] = i0[c][y][x] / i0[3][y][x];
}
