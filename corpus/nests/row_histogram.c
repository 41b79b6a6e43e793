/* Grey-value histogram of every row of an image, the top three bits of a pixel being its bin. */

void row_histogram(int h, int w, const unsigned char img[h][w], unsigned hist[h][8])
{
  for (int r = 0; r < h; r++) {
    unsigned bin[8] = {0};
    for (int c = 0; c < w; c++)
      bin[img[r][c] >> 5] += 1;
    for (int b = 0; b < 8; b++)
      hist[r][b] = bin[b];
  }
}
