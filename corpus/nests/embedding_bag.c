/* Mean of the embeddings of the tokens of each bag. */

void embedding_bag(int bags, int len, int vocab, int d, const int token[bags][len],
                   const float table[vocab][d], float out[bags][d])
{
  for (int b = 0; b < bags; b++)
    for (int c = 0; c < d; c++) {
      float sum = 0.0f;
      for (int t = 0; t < len; t++) {
        int w = token[b][t];
        sum += table[w][c];
      }
      out[b][c] = sum / len;
    }
}
