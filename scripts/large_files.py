"""Writes C files that are hard by their size, for `check_suite.py`.

python scripts/large_files.py FOLDER && python scripts/check_suite.py FOLDER

`functions.c` has 2,000 lines and 200 loops in 20 functions, `function.c` the same in one function,
`deep.c` 60 nested loops whose subscript is the sum of all their variables, `wide.c` a nest of 30
statements with remainders in guards and subscripts.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

HEAD = "void f{n}(int n, int m, float A[n][m], float B[n][m], float x[n], float y[m], float z[n])"


def nests(first: int, count: int) -> Iterator[str]:
    """Nests of two loops, ten lines a loop: a stencil with a temporary, and a triangular sum."""
    for n in range(first, first + count, 2):
        a, b = n % 3, n % 2
        yield "  for (i = 1; i < n - 1; i++)\n    for (j = 1; j < m - 1; j++)\n    {"
        for k in range(5):
            yield f"      t = A[i][j - {a}] + A[i - 1][j + {b}] * {k + 1};"
            yield f"      B[i][j + {b}] = t * 0.25f;"
            yield f"      A[i][j] += B[i - {b}][j - {k % 3}] - t;"
        yield "    }\n"
        yield "  for (i = 0; i < n; i++)\n  {\n    s = 0;"
        yield "    for (j = 0; j <= i; j++)\n    {"
        for k in range(3):
            yield f"      t = A[i][j] - {k};\n      s += t * y[j];"
        yield f"    }}\n    if (i > {n})\n      x[i] = s;"
        yield "    else\n      z[i] = s + x[n - i - 1];\n    x[i] *= 2;\n  }\n"


def function(n: int, nest_count: int) -> str:
    body = "\n".join(nests(n, nest_count))
    return f"{HEAD.format(n=n)}\n{{\n  int i, j;\n  float t, s;\n{body}\n}}\n"


def deep(depth: int) -> str:
    heads = "\n".join(f"for (int i{k} = 0; i{k} < n; i{k}++)" for k in range(depth))
    total = " + ".join(f"i{k}" for k in range(depth))
    return f"void f(int n, float *a)\n{{\n{heads}\na[{total}] = a[{total} + 1];\n}}\n"


def wide(count: int) -> str:
    lines = "\n".join(
        f"    if (i % {k % 5 + 2} == {k % 2}) A[i/{k % 3 + 2} + {k}] = A[i*{k % 4 + 1} % {k + 3}];"
        for k in range(count)
    )
    return (
        f"void f(int n, float *A)\n{{\n  for (int i = 1; i < n - 1; i++)\n  {{\n{lines}\n  }}\n}}\n"
    )


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    files = {
        "functions.c": "\n".join(function(n, 6) for n in range(0, 102, 6)),
        "function.c": function(0, 100),
        "deep.c": deep(60),
        "wide.c": wide(30),
    }
    for name, text in files.items():
        (folder / name).write_text(text)
        print(f"{folder / name}: {len(text.splitlines())} lines, {text.count('for (')} loops")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
