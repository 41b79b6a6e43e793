/* From the sensor of a camera to an image: hot pixels are taken out, the colours that each pixel lacks
   are interpolated from its neighbours in the direction in which they differ less, colours are corrected by
   a matrix and a curve, and edges are sharpened. The sensor has 6 pixels more on each side, in pairs of
   rows of green and red, and of blue and green. */

#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define CLAMP(v, low, high) ((v) < (low) ? (low) : (v) > (high) ? (high) : (v))
#define MEAN(a, b) (((a) + (b) + 1) / 2)
#define APART(a, b) ((a) > (b) ? (a) - (b) : (b) - (a))

typedef unsigned short pixel;

void camera_pipe(int h, int w, const pixel raw[2 * h + 12][2 * w + 12], const int matrix[3][4],
                 const unsigned char curve[1024], int strength,
                 unsigned char out[3][2 * h - 2][2 * w - 2])
{
  pixel clean[2 * h + 12][2 * w + 12];
  pixel gr[h + 6][w + 6], r[h + 6][w + 6], b[h + 6][w + 6], gb[h + 6][w + 6];
  pixel g_r[h + 6][w + 6], g_b[h + 6][w + 6], r_gr[h + 6][w + 6], b_gr[h + 6][w + 6];
  pixel r_gb[h + 6][w + 6], b_gb[h + 6][w + 6], r_b[h + 6][w + 6], b_r[h + 6][w + 6];
  pixel red[2 * h + 12][2 * w + 12], green[2 * h + 12][2 * w + 12], blue[2 * h + 12][2 * w + 12];
  short corrected[3][2 * h + 12][2 * w + 12];
  unsigned char curved[3][2 * h + 12][2 * w + 12], smooth_y[3][2 * h + 12][2 * w + 12];
  unsigned char smooth[3][2 * h + 12][2 * w + 12];
  for (int y = 2; y < 2 * h + 10; y++)
    for (int x = 2; x < 2 * w + 10; x++)
      clean[y][x] = MIN(raw[y][x], MAX(MAX(raw[y - 2][x], raw[y + 2][x]),
                                       MAX(raw[y][x - 2], raw[y][x + 2])));
  for (int y = 1; y < h + 5; y++)
    for (int x = 1; x < w + 5; x++)
      gr[y][x] = clean[2 * y][2 * x];
  for (int y = 1; y < h + 5; y++)
    for (int x = 1; x < w + 5; x++)
      r[y][x] = clean[2 * y][2 * x + 1];
  for (int y = 1; y < h + 5; y++)
    for (int x = 1; x < w + 5; x++)
      b[y][x] = clean[2 * y + 1][2 * x];
  for (int y = 1; y < h + 5; y++)
    for (int x = 1; x < w + 5; x++)
      gb[y][x] = clean[2 * y + 1][2 * x + 1];
  for (int y = 2; y < h + 4; y++)
    for (int x = 2; x < w + 4; x++)
      g_r[y][x] = APART(gr[y][x + 1], gr[y][x]) < APART(gb[y - 1][x], gb[y][x])
                  ? MEAN(gr[y][x + 1], gr[y][x]) : MEAN(gb[y - 1][x], gb[y][x]);
  for (int y = 2; y < h + 4; y++)
    for (int x = 2; x < w + 4; x++)
      g_b[y][x] = APART(gb[y][x - 1], gb[y][x]) < APART(gr[y + 1][x], gr[y][x])
                  ? MEAN(gb[y][x - 1], gb[y][x]) : MEAN(gr[y + 1][x], gr[y][x]);
  for (int y = 3; y < h + 3; y++)
    for (int x = 3; x < w + 3; x++)
      r_gr[y][x] = gr[y][x] - MEAN(g_r[y][x - 1], g_r[y][x])
                   + MEAN(r[y][x - 1], r[y][x]);
  for (int y = 3; y < h + 3; y++)
    for (int x = 3; x < w + 3; x++)
      b_gr[y][x] = gr[y][x] - MEAN(g_b[y - 1][x], g_b[y][x])
                   + MEAN(b[y - 1][x], b[y][x]);
  for (int y = 3; y < h + 3; y++)
    for (int x = 3; x < w + 3; x++)
      r_gb[y][x] = gb[y][x] - MEAN(g_r[y][x], g_r[y + 1][x])
                   + MEAN(r[y][x], r[y + 1][x]);
  for (int y = 3; y < h + 3; y++)
    for (int x = 3; x < w + 3; x++)
      b_gb[y][x] = gb[y][x] - MEAN(g_b[y][x], g_b[y][x + 1])
                   + MEAN(b[y][x], b[y][x + 1]);
  for (int y = 3; y < h + 3; y++)
    for (int x = 3; x < w + 3; x++)
      r_b[y][x] = APART(r[y][x], r[y + 1][x - 1]) < APART(r[y][x - 1], r[y + 1][x])
                  ? g_b[y][x] - MEAN(g_r[y][x], g_r[y + 1][x - 1]) + MEAN(r[y][x], r[y + 1][x - 1])
                  : g_b[y][x] - MEAN(g_r[y][x - 1], g_r[y + 1][x]) + MEAN(r[y][x - 1], r[y + 1][x]);
  for (int y = 3; y < h + 3; y++)
    for (int x = 3; x < w + 3; x++)
      b_r[y][x] = APART(b[y][x], b[y - 1][x + 1]) < APART(b[y][x + 1], b[y - 1][x])
                  ? g_r[y][x] - MEAN(g_b[y][x], g_b[y - 1][x + 1]) + MEAN(b[y][x], b[y - 1][x + 1])
                  : g_r[y][x] - MEAN(g_b[y][x + 1], g_b[y - 1][x]) + MEAN(b[y][x + 1], b[y - 1][x]);
  for (int y = 3; y < h + 3; y++)
    for (int x = 3; x < w + 3; x++) {
      red[2 * y][2 * x] = r_gr[y][x];
      red[2 * y][2 * x + 1] = r[y][x];
      red[2 * y + 1][2 * x] = r_b[y][x];
      red[2 * y + 1][2 * x + 1] = r_gb[y][x];
    }
  for (int y = 3; y < h + 3; y++)
    for (int x = 3; x < w + 3; x++) {
      green[2 * y][2 * x] = gr[y][x];
      green[2 * y][2 * x + 1] = g_r[y][x];
      green[2 * y + 1][2 * x] = g_b[y][x];
      green[2 * y + 1][2 * x + 1] = gb[y][x];
    }
  for (int y = 3; y < h + 3; y++)
    for (int x = 3; x < w + 3; x++) {
      blue[2 * y][2 * x] = b_gr[y][x];
      blue[2 * y][2 * x + 1] = b_r[y][x];
      blue[2 * y + 1][2 * x] = b[y][x];
      blue[2 * y + 1][2 * x + 1] = b_gb[y][x];
    }
  for (int c = 0; c < 3; c++)
    for (int y = 6; y < 2 * h + 6; y++)
      for (int x = 6; x < 2 * w + 6; x++)
        corrected[c][y][x] = (matrix[c][0] * red[y][x] + matrix[c][1] * green[y][x]
                              + matrix[c][2] * blue[y][x] + matrix[c][3]) >> 8;
  for (int c = 0; c < 3; c++)
    for (int y = 6; y < 2 * h + 6; y++)
      for (int x = 6; x < 2 * w + 6; x++)
        curved[c][y][x] = curve[CLAMP(corrected[c][y][x], 0, 1023)];
  for (int c = 0; c < 3; c++)
    for (int y = 7; y < 2 * h + 5; y++)
      for (int x = 6; x < 2 * w + 6; x++)
        smooth_y[c][y][x] = (curved[c][y - 1][x] + 2 * curved[c][y][x] + curved[c][y + 1][x] + 2) >> 2;
  for (int c = 0; c < 3; c++)
    for (int y = 7; y < 2 * h + 5; y++)
      for (int x = 7; x < 2 * w + 5; x++)
        smooth[c][y][x] = (smooth_y[c][y][x - 1] + 2 * smooth_y[c][y][x] + smooth_y[c][y][x + 1]
                           + 2) >> 2;
  for (int c = 0; c < 3; c++)
    for (int y = 7; y < 2 * h + 5; y++)
      for (int x = 7; x < 2 * w + 5; x++)
        out[c][y - 7][x - 7] = CLAMP(
            curved[c][y][x] + ((curved[c][y][x] - smooth[c][y][x]) * strength >> 5), 0, 255);
}
