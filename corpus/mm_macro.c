/* Matrix product of global arrays whose sizes are constants. */

#define ROWS 19
#define DEPTH 22
#define COLUMNS 13

float A[ROWS][DEPTH], B[DEPTH][COLUMNS], C[ROWS][COLUMNS];

void mm_macro(void)
{
  int i, j, k;

  for (i = 0; i < ROWS; ++i)
    for (j = 0; j < COLUMNS; ++j) {
      float acc = 0;
      for (k = 0; k < DEPTH; ++k)
        acc += A[i][k] * B[k][j];
      C[i][j] = acc;
    }
}
