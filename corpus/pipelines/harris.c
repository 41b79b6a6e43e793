/* Where an image has corners (Harris and Stephens, 1988): gradients, sums of their products over 3 x 3
   pixels, the response. */

#define BOX(a) (a[y - 1][x - 1] + a[y - 1][x] + a[y - 1][x + 1] + a[y][x - 1] + a[y][x] \
                + a[y][x + 1] + a[y + 1][x - 1] + a[y + 1][x] + a[y + 1][x + 1])

void harris(int h, int w, const float in[h][w], float out[h][w])
{
  float ix[h][w], iy[h][w], ixx[h][w], iyy[h][w], ixy[h][w];
  float sxx[h][w], syy[h][w], sxy[h][w], det[h][w], trace[h][w];
  for (int y = 1; y < h - 1; y++)
    for (int x = 1; x < w - 1; x++)
      iy[y][x] = (in[y + 1][x - 1] - in[y - 1][x - 1] + 2 * (in[y + 1][x] - in[y - 1][x])
                  + in[y + 1][x + 1] - in[y - 1][x + 1]) / 12;
  for (int y = 1; y < h - 1; y++)
    for (int x = 1; x < w - 1; x++)
      ix[y][x] = (in[y - 1][x + 1] - in[y - 1][x - 1] + 2 * (in[y][x + 1] - in[y][x - 1])
                  + in[y + 1][x + 1] - in[y + 1][x - 1]) / 12;
  for (int y = 1; y < h - 1; y++)
    for (int x = 1; x < w - 1; x++)
      ixx[y][x] = ix[y][x] * ix[y][x];
  for (int y = 1; y < h - 1; y++)
    for (int x = 1; x < w - 1; x++)
      iyy[y][x] = iy[y][x] * iy[y][x];
  for (int y = 1; y < h - 1; y++)
    for (int x = 1; x < w - 1; x++)
      ixy[y][x] = ix[y][x] * iy[y][x];
  for (int y = 2; y < h - 2; y++)
    for (int x = 2; x < w - 2; x++)
      sxx[y][x] = BOX(ixx);
  for (int y = 2; y < h - 2; y++)
    for (int x = 2; x < w - 2; x++)
      syy[y][x] = BOX(iyy);
  for (int y = 2; y < h - 2; y++)
    for (int x = 2; x < w - 2; x++)
      sxy[y][x] = BOX(ixy);
  for (int y = 2; y < h - 2; y++)
    for (int x = 2; x < w - 2; x++)
      det[y][x] = sxx[y][x] * syy[y][x] - sxy[y][x] * sxy[y][x];
  for (int y = 2; y < h - 2; y++)
    for (int x = 2; x < w - 2; x++)
      trace[y][x] = sxx[y][x] + syy[y][x];
  for (int y = 3; y < h - 3; y++)
    for (int x = 3; x < w - 3; x++)
      out[y][x] = det[y][x] - 0.04f * trace[y][x] * trace[y][x];
}
