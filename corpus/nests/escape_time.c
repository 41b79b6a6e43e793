/* How many iterations of z*z + c leave |z| < 2, for every pixel of a part of the plane. */

void escape_time(int h, int w, int most, float x0, float y0, float d, int count[h][w])
{
  for (int i = 0; i < h; i++)
    for (int j = 0; j < w; j++) {
      float cx = x0 + j * d, cy = y0 + i * d, zx = 0.0f, zy = 0.0f;
      int n = 0;
      while (n < most && zx * zx + zy * zy < 4.0f) {
        float t = zx * zx - zy * zy + cx;
        zy = 2.0f * zx * zy + cy;
        zx = t;
        n++;
      }
      count[i][j] = n;
    }
}
