#ifndef MATRIX_H
#define MATRIX_H

#ifndef SIDE
#define SIDE 70
#endif

void product(float c[SIDE][SIDE], float a[SIDE][SIDE], float b[SIDE][SIDE]);
void transpose(float out[SIDE][SIDE], float in[SIDE][SIDE]);

#endif
