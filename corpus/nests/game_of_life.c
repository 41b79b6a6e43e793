/* One generation of the Game of Life. */

void game_of_life(int h, int w, const unsigned char cell[h][w], unsigned char next[h][w])
{
  for (int i = 1; i < h - 1; i++)
    for (int j = 1; j < w - 1; j++) {
      int alive = 0;
      for (int di = -1; di <= 1; di++)
        for (int dj = -1; dj <= 1; dj++)
          if (di != 0 || dj != 0)
            alive += cell[i + di][j + dj];
      next[i][j] = alive == 3 || (alive == 2 && cell[i][j]);
    }
}
