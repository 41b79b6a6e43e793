/* Counts of the colours of an image, in four bits for each part. */
void colour_histogram(int h, int w, const unsigned char image[restrict h][w][3],
                      unsigned count[restrict 3][16])
{
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++)
      for (int part = 0; part < 3; part++)
        count[part][image[y][x][part] >> 4]++;
}
