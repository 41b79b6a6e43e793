void window_means(int h, int w, const float *in, float *out)
{
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            float sum = 0;
            for (int v = y - 2; v <= y + 2; v++)
                for (int u = x - 2; u <= x + 2; u++)
                    if (v >= 0 && v < h && u >= 0 && u < w)
                        sum += in[v * w + u];
            out[y * w + x] = sum / 25;
        }
}
