"""What the written C copies: it touches no byte that the user's function does not touch, and
changes no element that the function leaves alone. Around the touched part is no memory at all."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
from c_project import Compared, assert_all_same, preamble_of

import loopxform as lx
from loopxform.ir.nodes import Function

Touched = dict[str, tuple[int, int]]
"""By array, the first element that the function touches and the one behind the last."""


@dataclass(frozen=True)
class Case:
    text: str
    sizes: dict[str, int]
    touched: Touched


FIRST_TO_LAST = {"a": (0, 900), "b": (0, 900)}

CASES = {
    "interior": Case(
        "void f(int n, float *a, float *b)"
        "{ for (int i = 1; i < n - 1; i++) a[i] = (b[i - 1] + b[i] + b[i + 1]) / 3; }",
        {"n": 900},
        {"a": (1, 899), "b": (0, 900)},
    ),
    "counted from one": Case(
        "void f(int n, double *v) { for (int i = 1; i <= n; i++) v[i] = v[i] * 2 + i; }",
        {"n": 700},
        {"v": (1, 701)},
    ),
    "rows of a plain pointer": Case(
        "void f(int n, int m, float *a)"
        "{ for (int i = 2; i < n - 1; i++) for (int j = 0; j < m; j++) a[i * m + j] += i; }",
        {"n": 19, "m": 31},
        {"a": (62, 558)},
    ),
    "a star of a plain pointer": Case(
        "void f(int n, int m, float *a, float *b)"
        "{ for (int i = 1; i < n - 1; i++) for (int j = 1; j < m - 1; j++)"
        " a[i * m + j] = b[i * m + j - 1] + b[i * m + j + 1] + b[(i - 1) * m + j]"
        " + b[(i + 1) * m + j]; }",
        {"n": 19, "m": 31},
        {"a": (32, 557), "b": (1, 588)},
    ),
    "a wide star of a plain pointer": Case(
        "void f(int n, float *a, float *b)"
        "{ for (int i = 2; i < n - 2; i++) for (int j = 2; j < n - 2; j++) {"
        " for (int k = -2; k <= 2; k++) a[i * n + j] += k * b[i * n + j + k];"
        " for (int k = -2; k <= 2; k++) a[i * n + j] += k * b[(i + k) * n + j]; } }",
        {"n": 29},
        {"a": (60, 781), "b": (2, 839)},
    ),
    "every other, narrowed": Case(
        "void f(int n, short *a, int *b){ for (int i = 0; i < n; i += 2) a[i] = b[i] * 30000; }",
        {"n": 901},
        {"a": (0, 901), "b": (0, 901)},
    ),
    "part of each row": Case(
        "void f(int n, int m, float a[n][40], float b[n][m])"
        "{ for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) a[i][j] = b[i][j] + 1; }",
        {"n": 21, "m": 17},
        {"a": (0, 817), "b": (0, 357)},
    ),
    "whole rows": Case(
        "void f(int n, int m, float a[n][40], float b[n][m])"
        "{ for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) a[i][j] = b[i][j] + 1; }",
        {"n": 21, "m": 40},
        {"a": (0, 840), "b": (0, 840)},
    ),
    "in time": Case(
        "void f(int t, int n, float *a, float *b) { for (int s = 0; s < t; s++) {"
        " for (int i = 1; i < n - 1; i++) b[i] = (a[i - 1] + a[i] + a[i + 1]) / 3;"
        " for (int i = 1; i < n - 1; i++) a[i] = b[i]; } }",
        {"t": 5, "n": 900},
        {"a": (0, 900), "b": (1, 899)},
    ),
    "under a condition on data": Case(
        "void f(int n, float a[n], float *b)"
        "{ for (int i = 0; i < n; i++) if (b[i] > 4) a[i] = b[i]; }",
        {"n": 900},
        FIRST_TO_LAST,
    ),
    "written, then read": Case(
        "void f(int n, float *a, float *b) { for (int i = 0; i < n; i++) a[i] = b[i] * 2;"
        " for (int i = 0; i < n - 5; i++) b[i] += a[n - 1 - i]; }",
        {"n": 900},
        FIRST_TO_LAST,
    ),
    "second half": Case(
        "void f(int n, int *a, int *b) { for (int i = n / 2; i < n; i++) a[i] = b[i] + 1; }",
        {"n": 1001},
        {"a": (500, 1001), "b": (500, 1001)},
    ),
    "an inner loop that never runs": Case(
        "void f(int t, int n, int k, float a[n], float *b, float *c) {"
        " for (int s = 0; s < t; s++) { for (int i = 0; i < n; i++) c[i] = c[n - 1 - i] + s;"
        " for (int i = 0; i < n; i++) for (int j = 0; j < k; j++) a[i] += b[j]; } }",
        {"t": 2, "n": 900, "k": 0},
        {"a": (0, 0), "b": (0, 0), "c": (0, 900)},
    ),
    "nothing at all": Case(
        "void f(int n, float *a, float *b)"
        "{ for (int i = 1; i < n - 1; i++) a[i] = (b[i - 1] + b[i] + b[i + 1]) / 3; }",
        {"n": 2},
        {"a": (0, 0), "b": (0, 0)},
    ),
}

GUARDED = """
#include <sys/mman.h>
#include <unistd.h>

/* The bytes of a part, of which the first (or the one behind the last) is next to memory that
   cannot be touched; full of numbers that do not depend on where they are. */
static char *guarded(size_t bytes, int first, char **pages, size_t *size)
{
  const size_t page = (size_t)sysconf(_SC_PAGESIZE), whole = (bytes + page - 1) / page * page;
  char *all = mmap(NULL, whole + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (all == MAP_FAILED || (whole && mprotect(all + page, whole, PROT_READ | PROT_WRITE)))
    exit(3);
  *pages = all + page;
  *size = whole;
  return *pages + (first ? 0 : whole - bytes);
}
"""


def differs_of(fn: Function, case: Case) -> str:
    """Runs the user's function and the drop-in on equal memory, and compares all of it."""
    lines, calls = list[str](), list[str]()
    arrays = [p for p in fn.params if p.array]
    for p in fn.params:
        if not p.array:
            calls.append(str(case.sizes[p.name]))
            continue
        begin, end = case.touched[p.name]
        c, bytes_ = p.type.c, f"{end - begin} * sizeof({p.type.c})"
        lines += [
            f"{c} *{p.name}[2]; char *{p.name}_at[2]; size_t {p.name}_size;",
            "for (which = 0; which < 2; which++) {",
            f"  char *part = guarded({bytes_}, first, &{p.name}_at[which], &{p.name}_size);",
            f"  {p.name}[which] = ({c} *)part - {begin};",
            "  lx_seed = 1;",
            f"  for (n = 0; n < {p.name}_size / sizeof({c}); n++)",
            f"    (({c} *){p.name}_at[which])[n] = ({c})(number() * 0.37 + 1);",
            "}",
        ]
        calls.append(f"(void *){p.name}[WHICH]")
    call = ", ".join(calls)
    for name, which in ((f"user_{fn.name}", "0"), (fn.name, "1")):
        lines.append(f"{name}({call.replace('WHICH', which)});")
    for p in arrays:
        lines += [
            f"if (memcmp({p.name}_at[0], {p.name}_at[1], {p.name}_size) != 0)",
            f'  return puts("{p.name} differs"), 1;',
        ]
    body = "".join(f"    {line}\n" for line in lines)
    return (
        f"#define _DEFAULT_SOURCE\n{preamble_of(fn)}{GUARDED}\nstatic int differs(void)\n{{\n"
        f"  int first, which; size_t n;\n  for (first = 0; first < 2; first++) {{\n{body}  }}\n"
        "  return 0;\n}\n"
    )


@pytest.mark.parametrize("first", [0, *(pytest.param(n, marks=pytest.mark.slow) for n in (1, 2))])
def test_nothing_else_is_touched(first: int, tmp_path: Path) -> None:
    """Every third case in one program."""
    programs = []
    for n, case in enumerate([*CASES.values()][first::3]):
        text = case.text.replace("void f(", f"void f_{n}(")
        routine = lx.loads(text)[f"f_{n}"]
        done = routine.offload(contract=False).derivation
        programs.append(Compared(done, text, caller=differs_of(routine.function, case)))
    assert_all_same(tmp_path, programs, "-Wno-pedantic")
