/* With the line ends of other systems, tabs, and no end of the last line. */
#include <stdio.h>
#define N 50

static void f(int *x, int by)
{
	int i;
	for (i = 0; i < N; i++)	/* tab */
		x[i] = i * \
			by;
}

int main(void)
{
	int x[N], i;
	f(x, 3);
	for (i = 0; i < N; i++) x[i] += 2;
	i = 0; while (i < N) { printf("%d %d %d\n", i, x[i], __LINE__); i++; }
	return 0;
}