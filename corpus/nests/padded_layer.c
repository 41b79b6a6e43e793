#define IN(c, y, x) ((y) < 0 || (y) > h - 1 || (x) < 0 || (x) > w - 1 ? 0.0f : in[c][y][x])

void padded_layer(int co, int ci, int h, int w, const float in[ci][h][w],
                  const float weight[co][ci][3][3], float out[co][h][w])
{
    for (int o = 0; o < co; o++)
        for (int y = 0; y < h; y++)
            for (int x = 0; x < w; x++) {
                float sum = 0;
                for (int c = 0; c < ci; c++)
                    for (int v = 0; v < 3; v++)
                        for (int u = 0; u < 3; u++)
                            sum += IN(c, y + v - 1, x + u - 1) * weight[o][c][v][u];
                out[o][y][x] = sum;
            }
}
