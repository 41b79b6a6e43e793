"""Loops whose bounds are elements of arrays, that use numbers of the file, or whose last iteration
leaves a value: what programs print is the same with them on the device."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from c_project import assert_both_print, build_both, require_opencl

import loopxform as lx
from loopxform.api.splice import offload_file
from loopxform.floating_point import SEPARATE

PROGRAM = """#include <stdio.h>
static double scratch, kept;
static int size[3];
static double a[40][40], b[40][40];
static int first, last;
static void fill(void)
{
  int i, j;
  for (i = 1; i < size[0] - 1; i++)
    for (j = 1; j < size[1] - 1; j++) {
      scratch = b[i][j];
      a[i][j] = scratch * scratch + i;
    }
}
static void leave(int n, double *x)
{
  for (int i = 0; i < n; i++) {
    kept = b[1][i] * 2;
    x[i] = kept + i;
  }
}
static double behind(const int *n, double *x)
{
  double t = -1;
  for (int i = 0; i < *n; i++) {
    t = x[i] + 1;
    x[i] = t * t;
  }
  return t;
}
static void shifted(void)
{
  for (int i = first; i < last; i++)
    for (int j = 1; j < 40; j++)
      b[i - 1][j - 1] = a[i][j] - i;
}
static int next[45], places[41];
static int gathered(int n, const int *from, int to[], double *x, double y[])
{
  int found = 0;
  for (int i = 0; i < n; i++)
    x[i] = y[from[to[i]]] + i;
  for (int i = 0; i < n; i++)
    found += x[i] > 3;
  return found;
}
static double flat[50], given[44];
static int rows = 6;
static double measured(int n, double *x)
{
  double a[rows][n + 1], b[rows];
  int columns = n;
  rows += n;
  n = 0;
  for (int i = 0; i < rows - columns; i++)
    for (int j = 0; j < columns; j++)
      a[i][j] = x[i + j] + sizeof a[0];
  for (int i = 0; i < rows - columns; i++)
    b[i] = a[i][1] + sizeof b + n;
  rows -= columns;
  return b[rows - 1];
}
int main(void)
{
  double x[40] = {1, 2, 3};
  int n = 40;
  double sum = 0;
  for (int i = 0; i < 40; i++)
    for (int j = 0; j < 40; j++)
      b[i][j] = i + 0.5 * j;
  for (int k = 0; k < 3; k++) {
    size[0] = 10 * k, size[1] = 30 + k;
    fill();
    leave(3 * k, x);
    printf("%g %g\\n", kept, behind(&n, x));
    printf("%g\\n", measured(3 + k, x));
    for (int i = 0; i < 41; i++)
      next[i] = (7 * i + k) % 41, places[i] = 40 - i, given[i] = i * 0.5;
    printf("%d\\n", gathered(30 + k, places, next, flat, given));
    n -= 20;
    first = 1 + k, last = 20 * k;
    shifted();
  }
  for (int i = 0; i < 40; i++)
    for (int j = 0; j < 40; j++)
      sum = 0.5 * sum + a[i][j] + b[j][i] + x[i] + flat[i];
  printf("%g\\n", sum);
  return 0;
}
"""


@pytest.mark.slow
def test_values_of_the_file(tmp_path: Path) -> None:
    require_opencl()
    user = tmp_path / "user.c"
    user.write_text(PROGRAM)
    made = lx.load(user).offload(contract=False)
    owners = {r.region.owner.name for r in made.regions}
    assert {"fill", "leave", "behind", "shifted", "measured", "gathered"} <= owners
    made.write(tmp_path)
    build_both(tmp_path, "-Wall", "-Werror")
    found = assert_both_print(tmp_path)
    assert found.stderr.count("on the device") >= 9


CONFIGURED = """#include <stdio.h>
#ifndef SIZE
#define SIZE 60
#endif
static double a[SIZE], t;
static int places[5] = {3, 1, 4, 0, 2};
static void spread(double *x, const int *to, int n)
{
  for (int i = 0; i < n; i++)
    x[i] = 0.5 * x[to[i]] + i;
}
static void scratch(double *x)
{
  for (int i = 0; i < 6; i++) {
    t = x[i];
    x[i] = t * t;
  }
}
int main(void)
{
  double b[6] = {3, 4};
  spread(a, places, 5);
  scratch(b);
#ifdef SHOWN
  printf("%g\\n", t);
#endif
  printf("%g %g %g %g\\n", a[0], a[4], b[0], b[1]);
  return 0;
}
"""


@pytest.mark.parametrize(
    ("defines", "on_device"), [((), 2), (("SIZE=5",), 1), (("SHOWN",), 1), (("OTHER",), 2)]
)
def test_other_macros_elsewhere_in_the_file(
    tmp_path: Path, defines: tuple[str, ...], on_device: int
) -> None:
    """Who reads a number is as it was read, or the loops are the host's; where an array ends that
    callers pass, `spread` finds out itself."""
    require_opencl()
    user = tmp_path / "user.c"
    user.write_text(CONFIGURED)
    made = lx.load(user).offload("spread", "scratch", contract=False)
    assert len(made.regions) == 2
    made.write(tmp_path)
    build_both(tmp_path, "-w", *(f"-D{d}" for d in defines))  # gcc sees that 60 are more than 5
    assert assert_both_print(tmp_path).stderr.count("on the device") == on_device


TWO_SIZES = """#include <stdio.h>
static double large[1000], small[9], out[1000];
static int place[1000];
static void gather(double *x, double *y, int n)
{
  for (int i = 0; i < n; i++)
    y[i] = x[place[i]] * 2;
}
int main(void)
{
  double s = 0;
  for (int i = 0; i < 1000; i++)
    large[i] = small[i % 9] = place[i] = 999 - i;
  gather(large, out, 1000);
  for (int i = 0; i < 9; i++)
    place[i] = 8 - i;
  gather(small, out, 9);
  for (int i = 0; i < 1000; i++)
    s += out[i] * (i % 5);
  printf("%g\\n", s);
}
"""


def test_calls_that_pass_arrays_of_several_sizes(tmp_path: Path) -> None:
    """Subscripts that are data reach as far as the array of the call."""
    require_opencl()
    user = tmp_path / "user.c"
    user.write_text(TWO_SIZES)
    lx.load(user).offload(contract=False).write(tmp_path)
    build_both(tmp_path, "-w")
    assert_both_print(tmp_path)


class Reached:
    """Random functions whose bounds are elements of arrays that the loops may change. What a loop
    over `j` sets gets smaller, so that it ends where that is its bound."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def function(self, number: int) -> str:
        choose = self.random.choice
        bound = choose(["size[1]", "*p", "p[1]", "q[1]", "s->n[1]", "size[0]"])
        inner = choose(["size[0]", "p[0]", "q[0]", "3", "size[2]"])
        target = choose(["size[i]", "q[i]", "x[i]", "y[i]", "s->x[i]", "p[i]", "t"])
        value = choose(["i + t", "size[0] + i", "q[1] + t", "x[i] + 1"])
        body = choose(
            [
                f"t = i; {target} = {value};",
                f"for (int j = 0; j < {inner}; j++) {target} = {value} - j;",
                f"if (x[i] > 2) {{ t = 3; {target} = {value}; }}",
                f"{target} = {value}; t = i + 7;",
            ]
        )
        pointer = choose(["int *q = size;", "int *q = more;", "int *q = p;"])
        lines = [
            f"static int f{number}(int *p, double *x, int *y, struct s *s)",
            "{",
            choose(["int t = 4;", ""]),
            pointer,
            f"for (int i = 0; i < {bound}; i++) {{ {body} }}",
            "return t;",
            "}",
        ]
        return "\n".join(lines)

    def program(self, count: int) -> str:
        head = """#include <stdio.h>
        struct s { int n[3]; int *x; };
        static int t = 2, size[64] = {3, 5, 2}, more[64] = {2, 4, 1};"""
        functions = [self.function(n) for n in range(count)]
        shown = 'for (int k = 0; k < 8; k++) printf("%g %d %d %d ", x[k], y[k], size[k], more[k]);'
        calls = [
            "{ double x[64] = {1, 2, 3, 4}; int y[64] = {5, 6, 4}, z[64] = {3, 4, 5};"
            f"struct s s = {{{{1, 4, 2}}, {other}}};"
            f'printf("%d %d\\n", f{n}({given}, x, y, &s), t); {shown} puts("");'
            "for (int k = 0; k < 64; k++) size[k] = 3 + k % 3, more[k] = 2 + k % 4; t = 2; }"
            for n in range(count)
            for given, other in (("z", "y"), ("size", "z"))
        ]
        return "\n".join([head, *functions, "int main(void)", "{", *calls, "return 0;", "}", ""])


@pytest.mark.parametrize("seed", range(2))
def test_random_bounds(tmp_path: Path, seed: int) -> None:
    """With each function named, whatever can be taken is, on one work-item or more."""
    require_opencl()
    user = tmp_path / "user.c"
    count = 15
    user.write_text(Reached(seed).program(count))
    file = lx.load(user)
    names = [f"f{n}" for n in range(count)]
    made = offload_file(file, names, {}, "generic", fp=SEPARATE)
    assert len(made.regions) > 2
    made.write(tmp_path)
    build_both(tmp_path, "-w")
    assert_both_print(tmp_path)
