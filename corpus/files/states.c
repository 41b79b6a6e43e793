/* Cells with states: macros of several statements, with comments in them, and switches. */
#include <stdio.h>
#include <stdlib.h>

#define CELLS 400

enum __attribute__((packed)) kind { empty, full, wall };

struct cell {
	int state;
	long age;
};

#define GROW(c, by) do { \
		/* Old cells \
		   stay as they are. */ \
		if ((c).age > 90) \
			break; \
		(c).age += (by); /* whatever
		   their state is */ \
	} while (0)

static struct cell cells[CELLS];

static int step(const char *rule, int rounds)
{
	int r;
	for (r = 0; r < rounds; r++)
		for (int i = 0; i < CELLS; i++) {
			switch (cells[i].state & 3) {
			case 0:
			case 3:
				cells[i].state += rounds;
				break;
			case 1:
				if (cells[i].age > 50)
					break;
				cells[i].state *= 5;
				break;
			default:
				cells[i].state ^= 9;
			}
			GROW(cells[i], 7);
		}
	return puts(rule) < 0 ? -1 : r;
}

int main(int argc, char **argv)
{
	int mode = argc > 1 ? atoi(argv[1]) : 2;
	do {
		for (int i = 0; i < CELLS; i++) {
			cells[i].state = i * 37 % 11;
			cells[i].age = i % 100;
		}
		if (mode == 5)
			break;
		printf("%d rounds\n", step("grow", 4));
	} while (0);
	switch (mode) {
	case 1:
		for (int i = 0; i < CELLS; i++)
			cells[i].age -= 3;
		break;
	case 2:
		for (int i = 0; i < CELLS; i++)
			cells[i].age *= 3;
		puts("times three");
	}
	for (int i = 0; i < CELLS; i += 7)
		printf("%d %ld\n", cells[i].state, cells[i].age);
	return 0;
}
