#include <stddef.h>
void b1(int w, int h, const unsigned char *src, unsigned char *dst, int alpha)
{
    for (int y = h - 1; y >= 0; y--)
        for (int x = 0; x < w; x++)
            for (int k = 0; k != 3; k++) {
                int at = (y * w + x) * 3 + k;
                dst[at] = (unsigned char)((src[at] * alpha + dst[at] * (255 - alpha)) / 255);
            }
}
void b2(int w, int h, const unsigned char *src, unsigned char *dst, int alpha)
{
    for (int y = h - 1; y >= 0; y--)
        for (int x = 0; x < w; x++)
            for (int k = 0; k != 3; k++) {
                size_t at = ((size_t)y * w + x) * 3 + k;
                dst[at] = (unsigned char)((src[at] * alpha + dst[at] * (255 - alpha)) / 255);
            }
}
void b3(int w, int h, const unsigned char *src, unsigned char *dst, int alpha)
{
    for (int y = h - 1; y >= 0; y--)
        for (int x = 0; x < w; x++)
            for (int k = 0; k != 3; k++) {
                dst[((size_t)y * w + x) * 3 + k] = (unsigned char)((src[((size_t)y * w + x) * 3 + k] * alpha) / 255);
            }
}
void b4(size_t w, size_t h, const unsigned char *src, unsigned char *dst, int alpha)
{
    for (size_t y = 0; y <h; y++)
        for (size_t x = 0; x < w; x++)
            for (size_t k = 0; k < 3; k++) {
                size_t at = (y * w + x) * 3 + k;
                dst[at] = (unsigned char)((src[at] * alpha) / 255);
            }
}
void b5(int w, int h, const unsigned char *src, unsigned char *dst, int alpha)
{
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
                int at = (y * w + x) * 3;
            for (int k = 0; k < 3; k++) 
                dst[at+k] = (unsigned char)((src[at+k] * alpha) / 255);
            }
}
void b6(int w, int h, int stride, const unsigned char *src, unsigned char *dst, int alpha)
{
    for (int y = 0; y < h; y++) {
        const unsigned char *s = src + y * stride;
        unsigned char *d = dst + y * stride;
        for (int x = 0; x < w; x++) 
            for (int k = 0; k < 3; k++) 
                d[3*x+k] = (unsigned char)(s[3*x+k] * alpha / 255);
            }
}
