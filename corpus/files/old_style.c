/* C of before 1989: declarations first, parameters declared after their list, one count for all. */
#include <stdio.h>
#define ROWS 40
#define COLS 25

int table[ROWS][COLS];

void fill(start, step)
int start, step;
{
	register int i, j;

	for (i = 0; i < ROWS; i++) {
		for (j = 0; j < COLS; j++)
			table[i][j] = start + i * step - j;
	}
}

long weigh(n, weight)
int n;
long *weight;
{
	int i, j;
	long total;

	total = 0;
	for (i = 0; i < n; i++) {
		weight[i] = 0;
		for (j = 0; j < COLS; j++)
			weight[i] += table[i][j];
	}
	for (i = 0; i < n; i++)
		total += weight[i];
	return total;
}

float bent(x, low)
float x;
short low;
{
	float over;

	over = x - 0.1;
	return over < low ? 0.1 : over;
}

void bend(n, y)
int n;
float *y;
{
	int i;

	for (i = 0; i < n; i++)
		y[i] = bent(y[i] / 3.0, i - 4);
}

int main()
{
	long weight[ROWS];
	float y[COLS];
	int i;

	fill(3, 11);
	printf("%ld\n", weigh(ROWS, weight));
	for (i = 0; i < ROWS; i++)
		printf("%ld %d\n", weight[i], table[i][i % COLS]);
	for (i = 0; i < COLS; i++)
		y[i] = table[i][2] / 8.0;
	bend(COLS, y);
	for (i = 0; i < COLS; i++)
		printf("%.9g\n", y[i]);
	return 0;
}
