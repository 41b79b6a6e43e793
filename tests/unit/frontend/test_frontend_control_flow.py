"""continue, goto, switch, early returns and counting while loops: what they become."""

from __future__ import annotations

import numpy as np
import pytest
from differential import assert_same, compare, needs_compiler
from jumping import Generator
from lowering import body, opaques, text

from loopxform.ir.nodes import For
from loopxform.ir.visit import walk

LOOP = "for (i = 0; i < n; i++)"

MEANS = [
    # continue
    ("{ if (a[i] < 0) continue; b[i] = 1; }", "if (!(a[i] < 0)) b[i] = 1;"),
    ("{ if (!n) continue; b[i] = 1; }", "if (n) b[i] = 1;"),
    (
        "{ if (n) { a[i] = 1; continue; } else a[i] = 2; b[i] = 3; }",
        "if (n) a[i] = 1; else a[i] = 2; b[i] = 3;",
    ),
    ("{ if (n) a[i] = 1; else continue; b[i] = 3; }", "if (n) a[i] = 1; b[i] = 3;"),
    (
        "{ if (n) { if (i) continue; a[i] = 1; } b[i] = 3; }",
        "if (n) if (!i) a[i] = 1; if (!(n && i)) b[i] = 3;",
    ),
    (
        "{ if (n) { if (a[i] > 0) continue; a[i] = 1; } b[i] = 3; }",
        "skip = 0; if (n) if (a[i] > 0) skip = 1; else a[i] = 1; if (!skip) b[i] = 3;",
    ),
    ("{ b[i] = 1; continue; b[i] = 2; }", "b[i] = 1;"),
    # goto
    ("{ if (n) goto end; b[i] = 1; end: a[i] = 2; }", "if (!n) b[i] = 1; a[i] = 2;"),
    ("{ if (n) goto end; b[i] = 1; end:; }", "if (!n) b[i] = 1;"),
    # do ... while (0)
    ("do { a[i] = 1; b[i] = 2; } while (0);", "a[i] = 1; b[i] = 2;"),
    ("do { if (a[i] < 0) break; b[i] = 1; } while (0);", "if (!(a[i] < 0)) b[i] = 1;"),
    (
        "{ do { if (i) continue; if (n) break; a[i] = 1; } while (0); b[i] = 2; }",
        "if (!i) if (!n) a[i] = 1; b[i] = 2;",
    ),
    (
        "do { switch (n) { case 1: a[i] = 1; break; default: break; } b[i] = 2; } while (0);",
        "if (n == 1) a[i] = 1; b[i] = 2;",
    ),
    # switch
    (
        "switch (n) { case 1: a[i] = 1; break; case 2: case 3: a[i] = 2; break; default: b[0]++; }",
        "if (n == 1) a[i] = 1; else if (n == 2 || n == 3) a[i] = 2; else b[0] += 1;",
    ),
    (
        "switch (n) { default: a[i] = 1; break; case 'x': a[i] = 2; }",
        "if (n == 'x') a[i] = 2; else a[i] = 1;",
    ),
    (
        "switch (n) { case 1: if (i) break; a[i] = 1; break; case 2: continue; } ",
        "if (n == 1) if (!i) a[i] = 1; else if (n == 2)",
    ),
    (
        "switch (n) { case 7L: a[i] = 1; break; case -2: a[i] = 2; default: ; case 3: break; }",
        "if (n == 7L) a[i] = 1; else if (n == -2) a[i] = 2; else if (n == 3)",
    ),
]


@pytest.mark.parametrize(("statement", "expected"), MEANS)
def test_means(statement: str, expected: str) -> None:
    assert text(f"for (int i = 0; i < n; i++) {statement}") == f"{LOOP} {expected}"


WHOLE = [
    ("if (n < 0) return; a[0] = 1;", "if (!(n < 0)) a[0] = 1;"),
    ("int i = 0; while (i < n) { a[i] = 1; i++; } b[0] = i;", f"{LOOP} a[i] = 1; b[0] = i;"),
    (
        "int i, k; i = 0; k = 2; while (i < n) { a[i] = k; i += 2; }",
        "k = 2; for (i = 0; i < n; i += 2) a[i] = k;",
    ),
    ("int i = 0; for (; i < n; i++) a[i] = 1;", f"{LOOP} a[i] = 1;"),
    # An assignment in a condition.
    (
        "float x, y; if ((x = a[0]) > (y = a[1])) b[0] = x - y;",
        "x = a[0]; y = a[1]; if (x > y) b[0] = x - y;",
    ),
    (
        "float x; if (n) a[0] = 1; else if ((x = a[0]) > 2 && n < 9) b[0] = x;",
        "if (n) a[0] = 1; else x = a[0]; if (x > 2 && n < 9) b[0] = x;",
    ),
    # The start is not known to be the one the loop sees: it is kept.
    (
        "int i = 0; if (n) i = 2; while (i < n) { a[i] = 1; i++; }",
        "i = 0; if (n) i = 2; i_start = i; for (i = i_start; i < n; i++) a[i] = 1;",
    ),
    (
        "int k = n, i = k; k = 2; while (i < n) { a[i] = 1; i++; } a[0] = k;",
        "k = n; i = k; k = 2; i_start = i; for (i = i_start; i < n; i++) a[i] = 1; a[0] = k;",
    ),
    (
        "int i, k; for (i = n / 2, k = n - i; i < n; i++, k--) a[i] = b[k];",
        "i = n/2; k = n - i; for (i = n/2; i < n; i++) a[i] = b[k]; k -= 1;",
    ),
]


@pytest.mark.parametrize(("statements", "expected"), WHOLE)
def test_functions(statements: str, expected: str) -> None:
    assert text(statements) == expected


STARTS = """
int f0(int n, int m, int *a) { int i = 0; for (; i < m; i++) a[i] = 1;
  for (; i < n; i++) a[i] = 2; return i; }
int f1(int n, int m, int *a) { int i = m; if (n > 3) i = 1; while (i < n) { a[i] = i; i += 2; }
  while (i > m) { a[i - 1] = 7; i--; } return i; }
int f2(int n, int m, int *a) { int i, j; for (i = n > m ? m : n, j = i + 1; i > 0; i--, j++)
  a[i] = j; return i * 100 + j; }
int f4(int n, int m, int *a) { int x = 0, y; for (int i = 0; i < n; i++) {
  if ((x = a[i] & 7) > (y = a[i + 1] - m)) a[i] = x - y; else if ((y = i % 3) == m) a[i] = y; }
  return x; }
int f3(int n, int m, int *a) { int i = n, j = m; for (; j < n; j++) { for (; i > j; i--) a[i] = j;
  i = n - j; } return i; }
"""


@needs_compiler
def test_loops_that_go_on_from_where_another_ended() -> None:
    sizes = [(0, 0), (4, 2), (5, 9), (8, 3), (11, 11)]
    calls = [{"n": n, "m": m, "a": np.arange(16)} for n, m in sizes]
    assert_same(STARTS, *calls)


REFUSED = [
    # The step would be skipped.
    ("int i = 0; while (i < n) { if (a[i] > 0) continue; a[i] = 1; i++; }", "a while loop"),
    # Another variable is stepped.
    ("int i = 0; while (i < n) { int i = 0; a[i] = 1; i++; }", "a while loop"),
    ("switch (n) { case 1: a[0] = 1; case 2: a[0] = 2; break; }", "a switch"),
    ("switch (n) { case 1: if (a[0] > 1) break; case 2: a[0] = 2; break; }", "a switch"),
    ("switch (n) { case 4294967295: a[0] = 1; break; }", "a switch"),
    ("switch (n) { case 4294967295L: a[0] = 1; break; }", "a switch"),
    ("switch (n) { case 1: a[0] = 1; case 2: break; default: a[0] = 2; }", "a switch"),
    # Labels inside loops, to which the switch jumps.
    ("switch (n) { case 0: for (int i = 0; i < n; i++) { case 1: a[i] = 1; } }", "a switch"),
    ("switch (n) { default: if (n) { case 2: a[0] = 1; } }", "a switch"),
    ("switch (n++) { case 1: a[0] = 1; break; }", "a switch"),
    ("again: a[0] = 1; if (n) goto again;", "the label 'again'"),
    ("if (n) goto in; for (int i = 0; i < n; i++) { in: a[i] = 1; }", "a goto"),
    ("for (int i = 0; i < n; i++) if (a[i] > 0) goto end; end: a[0] = 1;", "a goto"),
    # What follows a jump is never reached: the loop in front stays what it was.
    (
        "{ for (int i = 0; i < n; i++) if (a[i] > 0) goto end; "
        "if (n) { goto end; for (int k = 0; k < n; k++) b[k] = 2; } a[0] = 1; end:; }",
        "a goto",
    ),
    ("for (int i = 0; i < n; i++) { end: a[i] = 1; if (a[0]) goto end; }", "the label 'end'"),
    ("if (n) goto end; int t = 2; a[0] = t; end: t = 1;", "a goto"),
    ("for (int i = 0; i < n; i++) if (a[i] > 0) break;", "a break"),
    ("for (int i = 0; i < n; i++) if (a[i] > 0) return;", "a return that is not the last"),
    ("{ a[0] = 1; return; for (int i = 0; i < n; i++) a[i] = 1; }", "a return that is not"),
]


@pytest.mark.parametrize(("statements", "reason"), REFUSED)
def test_stays_as_it_is(statements: str, reason: str) -> None:
    assert opaques(body(statements))[0].reason.startswith(reason)


LABELS = [
    "switch (n & 1) { case 0: for (int i = 0; i < n; i++) { t = b[i]; case 1: a[i] = t; } }",
    "switch (n) { for (int i = 0; i < n; i++) { if (i) { default: t = b[i]; } a[i] = t; } }",
    "switch (n) { case 0: { for (int i = 0; i < n; i++) { t++; case 1: case 2: a[i] = t; } } }",
]


@pytest.mark.parametrize("statements", LABELS)
def test_a_label_of_a_switch_around_the_loop_is_not_modelled(statements: str) -> None:
    found = opaques(body(f"float t = 1; {statements}"))
    assert any(s.reason.endswith("label of a switch around it") for s in found[1:])


def test_the_labels_of_a_switch_are_part_of_it() -> None:
    switch = "switch (n) { case 1: case 2: a[0] = 1; default: a[1] = 1; }"
    assert [s.reason for s in opaques(body(switch))] == ["a switch"]


def test_a_while_loop_is_placed_at_its_word() -> None:
    fn = body("int i = 0;\n  while (i < n) { a[i] = 1; i++; }")
    (loop,) = (s for _, s in walk(fn.body) if isinstance(s, For))
    assert loop.origin.loc is not None
    assert (loop.origin.loc.line, loop.origin.loc.column) == (2, 3)


def program(seed: int) -> str:
    g = Generator(seed)
    body = "\n  ".join(g.statement(4, loop=False) for _ in range(3))
    return f"int f{seed}(int n, int *a, int x)\n{{\n  {body}\n  return x;\n}}\n"


@needs_compiler
@pytest.mark.parametrize("batch", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_random_jumps_mean_the_same(batch: int) -> None:
    source = "".join(program(100 * batch + n) for n in range(50 if batch else 8))
    calls = [{"n": n, "x": n + 1, "a": np.arange(10)} for n in (0, 3, 5)]
    compared, reasons = compare(source, *calls)
    # The others have loops or labels that no path reaches.
    assert compared >= (25 if batch else 3), reasons
