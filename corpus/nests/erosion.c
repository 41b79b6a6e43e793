/* Grey-scale erosion: the least pixel of a window of run-time radius. */

void erosion(unsigned h, unsigned w, unsigned r, const unsigned char in[h + 2 * r][w + 2 * r],
             unsigned char out[h][w])
{
  for (unsigned i = 0; i < h; i++)
    for (unsigned j = 0; j < w; j++) {
      unsigned char least = 255;
      for (unsigned p = 0; p <= 2 * r; p++)
        for (unsigned q = 0; q <= 2 * r; q++)
          least = in[i + p][j + q] < least ? in[i + p][j + q] : least;
      out[i][j] = least;
    }
}
