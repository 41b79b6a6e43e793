"""Macros of the user's with names of keywords, functions and ours: they mean what they meant, and
what is written means what it does without them."""

from __future__ import annotations

from pathlib import Path

import pytest
from c_project import assert_both_print, build_both, require_opencl

import loopxform as lx

NAMED = """#include <stdio.h>
#include <stdlib.h>
#define CL 3
#define min(a, b) ((a) < (b) ? (a) : (b))
#define N 100
#define context 5
#define device "none"
#define unused __attribute__((unused))
#define cleanup 7
#define noinline
#define size 3
#define status 9
#define restrict
#define inline
#define register
#define memcpy(a, b, c) copied(a, b, c)
#define strlen(a) 1
#define double float
#define each 1
#undef NULL
#define NULL 0
#ifndef INT_MAX
#define INT_MAX 2147483647
#endif
#ifndef EXIT_SUCCESS
#define EXIT_SUCCESS 1
#endif
static unused double a[N], b[N];
static void *own(size_t count) { return malloc(count); }
#define malloc(count) own((count) + 1)
#define free(x) free((x) == NULL ? NULL : (x))
static void f(int n, double *x, double s)
{
  for (int i = 0; i < n; i++)
    x[i] = x[i] * s + b[i % N] + size;
}
#undef double
int main(void)
{
  double *c = malloc(N * sizeof(double));
  for (int i = 0; i < N; i++) {
    a[i] = min(i, 17), b[i] = 2 * i;
    c[i] = (double)sizeof(a[0]);
  }
  f(N, a, 2);
  for (int i = 0; i < N; i++) printf("%g %g ", (double)a[i], c[i]);
  printf("%d %d %s %d\\n", CL, status, device, NULL == 0);
  free(c);
  return EXIT_SUCCESS;
}
"""


def assert_same(folder: Path, *options: str) -> str:
    flags = ("-std=gnu99", "-Wall", "-Werror", "-Wno-discarded-qualifiers")
    build_both(folder, *flags, *options)
    return assert_both_print(folder).stderr


def test_macros_with_names_of_all_kinds(tmp_path: Path) -> None:
    require_opencl()
    user = tmp_path / "user.c"
    user.write_text(NAMED)
    made = lx.load(user).offload(contract=False)
    assert len(made.regions) == 2
    made.write(tmp_path)
    assert assert_same(tmp_path).count("on the device") == 2


@pytest.mark.parametrize("given", [("restrict=", "const="), ("status=4", "queue=5")])
def test_macros_that_are_given(tmp_path: Path, given: tuple[str, ...]) -> None:
    require_opencl()
    user = tmp_path / "user.c"
    user.write_text(
        "#include <stdio.h>\n#define M (2 * K)\n"
        "static void f(int n, const int *restrict x, int *restrict y)\n"
        "{ for (int i = 0; i < n; i++) y[i] = x[i] + M; }\n"
        "int main(void)\n{\n  int x[9], y[9];\n"
        "  for (int i = 0; i < 9; i++) x[i] = i;\n  f(9, x, y);\n"
        '  for (int i = 0; i < 9; i++) printf("%d ", y[i]);\n  return 0;\n}\n'
    )
    made = lx.load(user, define=(*given, "K=3")).offload()
    assert len(made.regions) == 2
    made.write(tmp_path)
    options = [f"-D{d}" for d in given]
    assert assert_same(tmp_path, *options, "-DK=3").count("on the device") == 2
    assert "on the device" not in assert_same(tmp_path, *options, "-DK=4")
    assert assert_same(tmp_path, "-DK=3")


def test_an_argument_that_a_macro_changes(tmp_path: Path) -> None:
    user = tmp_path / "user.c"
    user.write_text(
        "int f(int n, double *x)\n{\n  int m = n;\n#define m (m + 1)\n"
        "  for (int i = 0; i < m; i++) x[i] = 2;\n  return n;\n}\n"
    )
    made = lx.load(user).offload()
    assert not made.regions
    assert [e.message for _, e in made.left] == [
        "where these statements begin and end is hidden by macros"
    ]
