void c1(int w, int h, const unsigned char *src, unsigned char *dst, int alpha)
{
    for (int x = 0; x < w; x++)
            for (int k = 0; k != 3; k++) {
                int at = x * 3 + k;
                dst[at] = src[at]*alpha;
            }
}
void c2(int w, int h, int src[h][w], int dst[h][w], int alpha)
{
    for (int x = 1; x < h-1; x++)
            for (int k = 0; k < w; k++) {
                int xm = x-1, xp = x+1;
                dst[x][k] = src[xm][k]+src[xp][k];
            }
}
