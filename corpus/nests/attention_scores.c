/* For every sequence and head: attention scores S = scale * Q * transpose(K). */

void attention_scores(int batch, int heads, int n, int d, float scale,
                      const float Q[batch][heads][n][d], const float K[batch][heads][n][d],
                      float S[batch][heads][n][n])
{
  for (int b = 0; b < batch; b++)
    for (int h = 0; h < heads; h++)
      for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
          float dot = 0.0f;
          for (int c = 0; c < d; c++)
            dot += Q[b][h][i][c] * K[b][h][j][c];
          S[b][h][i][j] = scale * dot;
        }
}
