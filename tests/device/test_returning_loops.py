"""Loops that return, on a device: the host goes on where the first hit is."""

from __future__ import annotations

import copy
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from c_project import assert_file_prints_the_same, require_opencl
from harness import assert_clean_and_right
from returning_programs import program

import loopxform as lx
from loopxform.codegen import emit
from loopxform.codegen.plan import Plan
from loopxform.prepare.while_loops import whole_loops
from loopxform.targets.target import GENERIC
from loopxform.verify.check_run import arguments
from loopxform.verify.compare import compare
from loopxform.verify.group.execute import execute
from loopxform.verify.interp import Program

CASES = {
    "place": (
        "int place(int n, const int a[n], int key)\n"
        "{ for (int i = 0; i < n; i++) if (a[i] == key) return i; return -1; }",
        "place(n, a, key)",
    ),
    "pointer": (
        "const int *pointer(int n, const int a[n], int key) { int i;\n"
        "for (i = 0; i < n; ++i) { if (a[i] == key) { return &a[i]; } } return NULL; }",
        "pointer(n, a, key) == NULL ? -1 : pointer(n, a, key) - a",
    ),
    "element": (
        "int element(size_t n, const int a[n], int key)\n"
        "{ for (size_t i = 0; i < n; i++) if (a[i] >= key) return a[i] * 2; return 0; }",
        "element((size_t)length, a, key)",
    ),
    "is_sorted": (
        "bool is_sorted(int n, const float x[n])\n"
        "{ int i = 1; while (i < n) { if (x[i - 1] > x[i]) return false; i++; } return true; }",
        "is_sorted(n, x)",
    ),
    "is_less": (
        "int is_less(int n, const int a[n], const int b[n]) { for (int i = 0; i < n; i++) {\n"
        "if (a[i] < b[i]) return -1; if (a[i] > b[i]) return 1; } return 0; }",
        "is_less(n, a, b) + 3 * is_less(n, b, a)",
    ),
    "differs": (
        "int differs(int n, const int a[n], const int b[n]) { for (int i = 0; i < n; i++) {\n"
        "if (a[i] == b[i]) continue; return a[i] < b[i] ? -i : i; } return 0; }",
        "differs(n, a, b)",
    ),
    "effects": (
        "int effects(long n, const float x[n], float *value, int *row) { long i; float v;\n"
        "for (i = 0; i < n; i += 1) { v = x[i] * 2; if (!(v >= 0)) { *value += v; *row += (int)i;"
        " return 1; } } *row -= 1; return 0; }",
        "effects(length, x, &value, &row)",
    ),
    "nothing": (
        "void nothing(int n, const int a[n], int key, int *row) { *row = -1;\n"
        "for (int i = 0; i < n; i++) if (a[i] == key) { *row = i; return; } *row = -2; }",
        "(nothing(n, a, key, &row), row)",
    ),
    "last": (
        "int last(int n, const int a[n], int key)\n"
        "{ for (int i = n - 1; i >= 0; i--) if (a[i] == key) return i; return -1; }",
        "last(n, a, key)",
    ),
    "counter": (
        "int counter(int n, const int a[n], int key) { int i;\n"
        "for (i = 0; i < n; i++) if (a[i] == key && i > 1) return -i; return i; }",
        "counter(n, a, key)",
    ),
    "no-end": (
        "int no_end(int n, const int a[n], int key) { int i = 0;\n"
        "for (;;) { if (i >= n) return -1; if (a[i] == key) return i; i++; } }",
        "no_end(n, a, key)",
    ),
    "matrix": (
        "int matrix(int n, int m, const int a[n][m], int key, int *row, int *col) {\n"
        "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++)\n"
        "if (a[i][j] == key) { *row = i; *col = j; return 1; } return 0; }",
        "length % 5 ? -1 : matrix(length / 5, 5, (const int (*)[5])a, key, &row, &row) * 10 + row",
    ),
    "two-ways": (
        "int two_ways(int n, const int a[n], int key) { int i, k = 0;\n"
        "for (i = 0; i < n; i++) { if (a[i] == key) { k = 5; break; } if (a[i] > 2) return i; }\n"
        "return i * 10 + k; }",
        "two_ways(n, a, key - where % 2)",
    ),
    "of_the_most": (
        "int of_the_most(const int *a, int n) { int most = a[0];\n"
        "for (int i = 1; i < n; i++) if (a[i] > most) most = a[i];\n"
        "for (int i = 0; i < n; i++) if (a[i] == most) return i; return -1; }",
        "length ? of_the_most(a, n) : -5",
    ),
    "is_settled": (
        "int is_settled(const int *a, int *b, int n)\n"
        "{ for (int i = 0; i < n; i++) b[i] = a[i] % 3;\n"
        "for (int i = 0; i < n; i++) if (b[i] != a[i]) return 0; return 1; }",
        "is_settled(a, b, n)",
    ),
    "between": (
        "int between(int n, int a[n], const int b[n], int key) {\n"
        "for (int i = 0; i < n; i++) a[i] += b[i];\n"
        "for (int i = 0; i < n; i++) if (a[i] == key) return i;\n"
        "for (int i = 0; i < n; i++) a[i] -= b[i];\nreturn -1; }",
        "between(n, a, b, 5)",
    ),
}
"""What is called last changes arrays. Pointers are as long as loops in front of the search say."""
WIDTHS = "-1, 0, 1, 2, 5, 255, 256, 260, 2305"


def given(plan: Plan, seed: int, **sizes: int) -> dict[str, Any]:
    """Random arguments; of the sizes those that the function has."""
    names = {p.name for p in plan.start.params}
    return arguments(plan.start, {n: v for n, v in sizes.items() if n in names}, seed)


def plan_of(name: str, parts: tuple[int, ...] = ()) -> Plan:
    """The search of a case, cut at so many iterations."""
    limits = replace(GENERIC, search_parts=parts)
    text = "#include <stdbool.h>\n#include <stddef.h>\n" + CASES[name][0]
    (region,) = lx.loads(text).offload(limits=limits).regions
    return emit.kernel(region.done.derivation)


@pytest.mark.opencl_sdk
@pytest.mark.parametrize("parts", [(), (7, 300)])
def test_as_the_c_program(tmp_path: Path, parts: tuple[int, ...]) -> None:
    require_opencl()
    names = tuple(CASES) if not parts else ("place", "last", "differs")
    called = [n.replace("-", "_") for n in names]
    source = tmp_path / "returning.c"
    source.write_text(program((CASES[name] for name in names), WIDTHS))
    limits = replace(GENERIC, search_parts=parts)
    done = lx.load(source).offload(*called, limits=limits, contract=False)
    assert {r.region.owner.name for r in done.regions} == set(called)
    said = assert_file_prints_the_same(source, done, sanitized=True)
    assert sum("on the device" in x for x in said) > 20 * len(names), said


STAYS = """#include <stdio.h>
#include <stdlib.h>
static void bump(int n, int a[n]) { for (int i = 0; i < n; i++) a[i] = a[i] * 2 + i; }
static int find(int n, int a[n], int key, int *sum)
{
  for (int i = 0; i < n; i++)
    if (a[i] == key) {
      *sum += a[i];
      a[i] = -5;
      return i;
    }
  return -1;
}
int main(void)
{
  int sum = 0, *a = calloc(1000, sizeof *a);
#pragma loopxform enter data copyin(a[0:1000])
  bump(1000, a);
  printf("%d\\n", find(1000, a, 500, &sum));
  bump(1000, a);
  printf("%d\\n", find(1000, a, 490, &sum));
  printf("%d\\n", find(1000, a, 490, &sum));
#pragma loopxform exit data copyout(a[0:1000])
  printf("%d %d %d\\n", sum, a[500], a[245]);
  free(a);
  return 0;
}
"""


@pytest.mark.opencl_sdk
def test_arrays_that_stay_on_the_device_come_home(tmp_path: Path) -> None:
    """The host goes on with what kernels have left there, and they with what it sets."""
    require_opencl()
    source = tmp_path / "stays.c"
    source.write_text(STAYS)
    done = lx.load(source).offload("bump", "find")
    said = assert_file_prints_the_same(source, done, sanitized=True)
    assert sum("bytes to the host" in x for x in said) == 2, said


SEARCHES = ["place", "is_less", "matrix", "last"]


@pytest.mark.parametrize("name", SEARCHES)
def test_in_the_executor_of_groups(name: str) -> None:
    """Where the host goes on is where a loop in order would be left."""
    plan = plan_of(name)
    for key in (1, 40):
        args = given(plan, 5, n=19, m=3, key=key)
        expected = copy.deepcopy(args)
        Program(whole_loops(plan.start)).run(expected)
        execute(plan, args, seed=3)
        assert not compare(expected, args)


@pytest.mark.oclgrind
@pytest.mark.parametrize("name", ["place", "matrix"])
def test_without_races(name: str) -> None:
    plan = plan_of(name, (20,))
    pairs = ((n, key) for n in (1, 37) for key in (1, 1000000))
    assert_clean_and_right(plan, [given(plan, 5, n=n, m=2, key=key) for n, key in pairs])


LEFT = {
    "a pointer": (
        "for (int i = 0; i < n; i++) if (p[i] == key) return i;",
        "search for the first i with p[i] == key, but it is not known that p[i] is there in all "
        "iterations [LX253]",
        "declare how far p goes: p[n]",
    ),
    "an end that data say": (
        "for (int i = 0; a[i] != key; i++) if (a[i] == 9) return i;",
        "a return leaves the loop: it is no search with a known end, which counts by 1 [LX253]",
        "let iterations only look, at elements that all exist, for an i from a number to an end",
    ),
    "steps of 2": (
        "for (int i = 0; i < n; i += 2) if (a[i] == key) return i;",
        "a return leaves the loop: it is no search with a known end, which counts by 1 [LX253]",
        "let iterations only look",
    ),
    "a pointer that moves": (
        "for (int i = 0; i < n; i++) b[i] = p[i]; p++;"
        " for (int i = 0; i < n; i++) if (p[i] == key) return i;",
        "it is not known that p[i] is there in all iterations [LX253]",
        "declare how far p goes: p[n]",
    ),
    "a longer loop": (
        "for (int i = 0; i < n - 1; i++) b[i] = p[i];"
        " for (int i = 0; i < n; i++) if (p[i] == key) return i;",
        "it is not known that p[i] is there in all iterations [LX253]",
        "declare how far p goes: p[n]",
    ),
    "a size that changes": (
        "for (int i = 0; i < n; i++) b[i] = p[i]; n += key;"
        " for (int i = 0; i < n; i++) if (p[i] == key) return i;",
        "it is not known that p[i] is there in all iterations [LX253]",
        "declare how far p goes: p[n]",
    ),
    "elements under a condition": (
        "for (int i = 0; i < n; i++) if (b[i] > key) b[i] = p[i];"
        " for (int i = 0; i < n; i++) if (p[i] == key) return i;",
        "it is not known that p[i] is there in all iterations [LX253]",
        "declare how far p goes: p[n]",
    ),
    "a loop inside": (
        "for (int i = 0; i < n; i++) for (int j = 0; j < a[i]; j++) if (b[j] == key) return j;",
        "search for the first i with a hit in it, but it is not known that b[j] is there in all",
        "read b from its first element on, up to a size that declares it: b[n]",
    ),
    "elements that are set": (
        "for (int i = 0; i < n; i++) { if (a[i] == key) return i; b[i] = 2; }",
        "a return leaves a loop whose iterations before set b[i] [LX249]",
        "look for the iteration in a loop that does nothing else, then do the rest up to it",
    ),
    "what counts along": (
        "int k = 0; for (int i = 0; i < n; i++) { if (a[i] == key) return k; k += 2; }",
        "a return leaves a loop whose iterations before set k [LX249]",
        "look for the iteration",
    ),
    "a value that stays": (
        "int w; for (int i = 0; i < n; i++) { if (a[i] < 0) w = i; if (a[i] == key) return w; }",
        "a return leaves a loop whose iterations before set w [LX249]",
        "look for the iteration",
    ),
    "two counters": (
        "for (int i = 0, k = 0; i < n; i++, k++) if (a[i] == key) return k;",
        "a return leaves a loop that does not count with one integer alone [LX249]",
        "write it as for (i = 0; i < n; i++)",
    ),
    "a header that macros hide": (
        "EACH(i) if (a[i] == key) return i;",
        "macros or directives hide the header of a loop that a return leaves [LX249]",
        "write the loop out",
    ),
    "a call": (
        "for (int i = 0; i < n; i++) { note(i); if (a[i] == key) return i; }",
        "the effects of calling 'note' are not known [LX012]",
        "move the call out of the loops",
    ),
    "a goto": (
        "for (int i = 0; i < n; i++) { if (a[i] == key) return i; if (a[i] < 0) goto out; } out: ;",
        "a return leaves the loops [LX011]",
        "set a variable, leave the loops by break, and return behind them",
    ),
    "a switch": (
        "for (int i = 0; i < n; i++) switch (a[i]) { case 3: return i; }",
        "a return leaves the loops [LX011]",
        "set a variable",
    ),
    "a division": (
        "for (int i = 0; i < n; i++) if (key % a[i] == 1) return i;",
        "later iterations may divide by 0: key % a[i] [LX253]",
        "divide by a constant, or ask behind the loop",
    ),
}


@pytest.mark.parametrize("case", LEFT)
def test_what_stays_says_why(case: str) -> None:
    body, why, help = LEFT[case]
    text = (
        "#define EACH(i) for (int i = 0; i < n; i++)\nvoid note(int);\n"
        "int f(int n, const int a[n], int b[n], int key, const int *p)\n"
        f"{{ {body} return -1; }}\n"
    )
    done = lx.loads(text).offload("f")
    assert not any(r.region.returns for r in done.regions)
    said = [(f"{e.message} [{e.code}]", e.help or "") for _, e in done.left]
    assert any(why in message and help in remedy for message, remedy in said), said
    assert all(e.loc is not None and e.loc.line == 4 for _, e in done.left)


LOOKED_AT = {
    "is_sorted": "for (int i = 1; i < len; i++) if (a[i] < a[i - 1]) return 0;",
    "from_behind": "for (int i = len - 1; i >= 0; i--) if (a[i] == m) return i;",
    "of_so_many": "for (int i = 0; i < 2 * 100; i++) if (a[i + 3] == m) return i;",
    "of_rows": "for (int i = 0; i < len; i++) for (int j = 0; j < m; j++)"
    " if (a[i * m + j] == 7) return i;",
}


@pytest.mark.parametrize("name", LOOKED_AT)
def test_what_helps_does(name: str) -> None:
    """What is printed, done to the letter: declared as it says, where it says, and so written."""
    body = LOOKED_AT[name]
    text = f"int f(const int *a, int len, int m) {{ {body} return -1; }}"
    error = lx.loads(text).offload("f").left[-1][1]
    said = re.fullmatch(
        r"declare how far a goes: (a\S*?)(?:, behind .* in the parameters)?(?:, and write (.*))?",
        error.help or "",
    )
    assert said is not None
    written = re.sub(r"a\[i \* m \+ j\]", said[2] or "", body)
    text = f"int f(int len, int m, const int {said[1]}) {{ {written} return -1; }}"
    done = lx.loads(text).offload("f")
    assert not done.left
    assert any(r.region.returns for r in done.regions)
