"""Programs with loops that return, and what calls them: exact memory, hits in all places."""

from __future__ import annotations

from collections.abc import Iterable

HEAD = """
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int table[4 * 2400];
"""
MAIN = """
int main(void)
{
  static const int sizes[] = { SIZES };
  for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++)
    for (int where = 0; where < 5; where++) {
      const int n = sizes[s], length = n > 0 ? n : 0, at = where * (length - 1) / 3;
      int *a = malloc((size_t)length * sizeof *a), *b = malloc((size_t)length * sizeof *b);
      float *x = malloc((size_t)length * sizeof *x), value = 0;
      int row = -7, key = 3;
      for (int i = 0; i < length; i++) {
        a[i] = b[i] = i % 3;
        x[i] = (float)i;
      }
      if (where < 4 && length) {
        a[at] = key;
        x[at] = where == 2 ? NAN : -1;
      }
      if (where < 4 && length)
        table[at * 4 + where] = 12;
      printf("%d %d:", n, where);
CALLS
      printf(" %d %g\\n", row, value);
      memset(table, 0, sizeof table);
      free(a), free(b), free(x);
    }
  return 0;
}
"""


def program(functions: Iterable[tuple[str, str]], sizes: str) -> str:
    """A file with functions, each with the number that `main` prints of its calls."""
    pairs = list(functions)
    calls = "\n".join(f'      printf(" %ld", (long)({call}));' for _, call in pairs)
    main = MAIN.replace("SIZES", sizes).replace("CALLS", calls)
    return HEAD + "\n".join(text for text, _ in pairs) + main
