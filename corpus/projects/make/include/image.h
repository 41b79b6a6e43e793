#ifndef IMAGE_H
#define IMAGE_H

#ifndef WIDTH
#define WIDTH 200
#endif

void blur(int height, unsigned char out[][WIDTH], unsigned char in[][WIDTH]);
void threshold(int height, int limit, unsigned char image[][WIDTH]);

#endif
