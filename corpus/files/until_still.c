/* Relaxation until nothing moves: the loop on data is the host's, and what it counts is returned. */
#include <math.h>
#include <stdio.h>

#define N 60

static double grid[N][N], next[N][N];

static int relax(double tol, int most)
{
	int it = 0;
	double err = tol + 1;
	while (err > tol && it < most) {
		err = 0;
		for (int i = 1; i < N - 1; i++)
			for (int j = 1; j < N - 1; j++) {
				double moved;
				next[i][j] = 0.25 * (grid[i - 1][j] + grid[i + 1][j] + grid[i][j - 1] + grid[i][j + 1]);
				moved = fabs(next[i][j] - grid[i][j]);
				if (moved > err)
					err = moved;
			}
		for (int i = 1; i < N - 1; i++)
			for (int j = 1; j < N - 1; j++)
				grid[i][j] = next[i][j];
		it++;
	}
	return it;
}

int main(void)
{
	int rounds;
	for (int i = 0; i < N; i++) {
		grid[0][i] = i;
		grid[i][0] = 2 * i;
	}
	rounds = relax(0.125, 200);
	printf("%d rounds, %.17g in the middle\n", rounds, grid[N / 2][N / 2]);
	printf("%d rounds\n", relax(0.125, 0));
	return 0;
}
