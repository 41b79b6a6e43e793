#include <stddef.h>
void blend(int w, int h, const unsigned char *src, unsigned char *dst, int alpha)
{
    enum { CH = 3 };
    for (int y = h - 1; y >= 0; y--)
        for (int x = 0; x < w; x++)
            for (int k = 0; k != CH; k++) {
                size_t at = ((size_t)y * w + x) * CH + k;
                dst[at] = (unsigned char)((src[at] * alpha + dst[at] * (255 - alpha)) / 255);
            }
}
