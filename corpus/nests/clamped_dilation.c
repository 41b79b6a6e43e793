void clamped_dilation(int h, int w, const unsigned char *in, unsigned char *out)
{
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            int most = 0;
            for (int v = -3; v <= 3; v++) {
                int row = y + v < 0 ? 0 : y + v > h - 1 ? h - 1 : y + v;
                for (int u = -3; u <= 3; u++) {
                    int column = x + u;
                    if (column < 0)
                        column = 0;
                    if (column >= w)
                        column = w - 1;
                    most = in[row * w + column] > most ? in[row * w + column] : most;
                }
            }
            out[y * w + x] = most;
        }
}
