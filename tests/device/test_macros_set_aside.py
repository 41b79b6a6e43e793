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


OF_HEADERS = """int printf(const char *, ...);
const int LINE_MAX = 80;
enum endian { BIG_ENDIAN = 5, LITTLE_ENDIAN, NULL = 9, INT_MAX = 50, SEEK_SET = 3, CL_BLUE };
struct stamp { int st_mtime, R_OK; };
static int a[100];
static struct stamp s;
void f(int n) { for (int i = 0; i < n; i++) a[i] += i * LITTLE_ENDIAN + NULL; }
#ifdef SCHED_FIFO
#define FIRST 1
#else
#define FIRST 2
#endif
#ifndef PATH_MAX
#define PATH_MAX 11
#endif
int main(void)
{
  f(INT_MAX);
  f(SEEK_SET);
  s.R_OK = s.st_mtime = LINE_MAX;
  for (int i = 0; i < 100; i++) a[i] = a[i] + BIG_ENDIAN + CL_BLUE;
  for (int i = 0; i < 100; i++) printf("%d ", a[i]);
  printf("%d %d %d %d %d\\n", s.R_OK, LINE_MAX, FIRST, PATH_MAX, NULL);
  return 0;
}
"""


@pytest.mark.parametrize("include", ["", "#include <stdio.h>\n"])
def test_names_that_headers_have_for_macros(tmp_path: Path, include: str) -> None:
    require_opencl()
    user = tmp_path / "user.c"
    text = OF_HEADERS
    for name in ("NULL", "SEEK_SET", "INT_MAX") if include else ():
        text = text.replace(name, f"{name}_")
    user.write_text(include + text)
    made = lx.load(user).offload(contract=False)
    assert len(made.regions) == 2
    made.write(tmp_path)
    build_both(tmp_path, "-std=gnu11", "-Wall", "-Werror")
    assert assert_both_print(tmp_path).stderr.count("on the device") == 3


def test_headers_further_down_say_what_they_have_to_say(tmp_path: Path) -> None:
    require_opencl()
    user = tmp_path / "user.c"
    user.write_text(
        "static int a[50];\nvoid f(int n) { for (int i = 0; i < n; i++) a[i] = i; }\n"
        "#include <stdio.h>\n#include <limits.h>\nint main(void)\n{\n  f(50);\n"
        '  printf("%d %d %d\\n", a[49], BUFSIZ, PATH_MAX);\n  return EOF + 1;\n}\n'
    )
    made = lx.load(user).offload()
    made.write(tmp_path)
    build_both(tmp_path, "-std=gnu11", "-Wall", "-Werror")
    assert assert_both_print(tmp_path).stderr.count("on the device") == 1


@pytest.mark.parametrize("name", ["CL_TRUE", "cl_int", "clFinish"])
def test_a_name_of_opencl_that_means_something_else(name: str) -> None:
    text = (
        "enum { NAME = 3 };\nvoid f(int n, int *a) { for (int i = 0; i < n; i++) a[i] = NAME; }\n"
    )
    with pytest.raises(lx.LoopxformError, match=f"'{name}' means something else") as e:
        lx.loads(text.replace("NAME", name)).offload()
    assert e.value.loc is not None
    assert (e.value.loc.line, e.value.loc.column) == (1, 8)


OF_C = """INCLUDED
static int a[50];
static void swap(int *v, int i, int j) { int t = v[i]; v[i] = v[j]; v[j] = t; }
static void qsort(int v[], int left, int right)
{
  int last = left;
  if (left >= right) return;
  swap(v, left, (left + right) / 2);
  for (int i = left + 1; i <= right; i++)
    if (v[i] < v[left]) swap(v, ++last, i);
  swap(v, left, last);
  qsort(v, left, last - 1);
  qsort(v, last + 1, right);
}
float j1(float x) { return x + 1; }
static double div(double x, double y) { return x / y; }
static int getline(int n) { int s = 0; for (int i = 0; i < n; i++) s += a[i]; return s; }
static void fill(int n) { for (int i = 0; i < n; i++) a[i] = i * 37 % 50; }
int main(void)
{
  fill(50);
  qsort(a, 0, 49);
  for (int i = 0; i < 50; i++) printf("%d ", a[i]);
  printf("%d %g %g\\n", getline(40), div(1, 4), j1(2));
  return 0;
}
"""


@pytest.mark.parametrize("included", ["int printf(const char *, ...);", "#include <stddef.h>"])
def test_functions_with_names_of_the_library_of_c(tmp_path: Path, included: str) -> None:
    require_opencl()
    user = tmp_path / "user.c"
    if included.startswith("#"):
        included += "\nint printf(const char *, ...);"
    user.write_text(OF_C.replace("INCLUDED", included))
    made = lx.load(user).offload()
    made.write(tmp_path)
    build_both(tmp_path, "-std=gnu11", "-w")
    assert assert_both_print(tmp_path).stderr.count("on the device") == 2


@pytest.mark.parametrize(
    ("head", "why"),
    [
        ("static int strlen", "means something else"),
        ("int atoi", "is a function of C's library as well: OpenCL would call yours"),
    ],
)
def test_a_function_that_others_need(head: str, why: str) -> None:
    """What is written calls strlen, and OpenCL's library whatever is linked as atoi."""
    name = head.split()[-1]
    text = (
        f"{head}(const char *s) {{ int n = 0; while (s[n]) n++; return n; }}\n"
        "void f(int n, int *a) { for (int i = 0; i < n; i++) a[i] = n; }\n"
        f'int main(void) {{ return {name}(""); }}\n'
    )
    with pytest.raises(lx.LoopxformError, match=f"'{name}' {why}") as e:
        lx.loads(text).offload()
    assert e.value.loc is not None
    assert (e.value.loc.line, e.value.loc.column) == (1, text.index(name) + 1)
