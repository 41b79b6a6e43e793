/* Number of words in each line of a text: lines of their own lengths in rows of the same width. */

void word_counts(int n, int width, const unsigned char text[n][width], const int length[n],
                 int words[n])
{
  for (int i = 0; i < n; i++) {
    int inside = 0, count = 0;
    for (int k = 0; k < length[i]; k++) {
      int letter = text[i][k] > 32;
      if (letter && !inside)
        count++;
      inside = letter;
    }
    words[i] = count;
  }
}
