void padded_convolution(int h, int w, const float *image, const float *taps, float *out)
{
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            float sum = 0;
            for (int v = 0; v < 5; v++) {
                int row = y + v - 2;
                if (row < 0 || row >= h)
                    continue;
                for (int u = 0; u < 5; u++) {
                    int column = x + u - 2;
                    if (column >= 0 && column < w)
                        sum += image[row * w + column] * taps[v * 5 + u];
                }
            }
            out[y * w + x] = sum;
        }
}
