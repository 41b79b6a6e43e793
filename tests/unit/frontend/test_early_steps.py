"""Loops that step their counter before they use it, or ask for it at the start of their body: what
they become, and the same as C's."""

from __future__ import annotations

import random

import numpy as np
import pytest
from differential import assert_same, compare, needs_compiler
from lowering import body, opaques, text

BECOMES = [
    ("int i = n; while (--i >= 0) a[i] = 1;", "for (i = n - 1; i > -1; i--) a[i] = 1;"),
    ("int i; for (i = n; --i >= 0;) a[i] = 1;", "for (i = n - 1; i > -1; i--) a[i] = 1;"),
    ("for (int i = n; --i > 0;) a[i] = 1;", "for (i = n - 1; i > 0; i--) a[i] = 1;"),
    ("int i = -1; while (++i < n) a[i] = 1;", "for (i = -1 + 1; i < n; i++) a[i] = 1;"),
    ("int i = 0; while (i++ < n) a[i] = 1;", "for (i = 0 + 1; i < n + 1; i++) a[i] = 1;"),
    ("int i = n; while (i > 0) { --i; a[i] = 1; }", "for (i = n; i > 0; i--) a[i-1] = 1;"),
    ("int i = n; for (; i; ) { i -= 1; a[i] = 1; }", "for (i = n; i > 0; i--) a[i-1] = 1;"),
    (
        "for (int i = 0; i < n; i++) { if (i >= m) break; a[i] = 1; }",
        "for (i = 0; i < min(n, m); i++) a[i] = 1;",
    ),
    (
        "int i = 0; while (1) { if (i >= n) break; a[i] = 1; i++; }",
        "for (i = 0; i < n; i++) a[i] = 1;",
    ),
    ("int i = 0; while (i < n) { i++; a[i] = 1; }", "for (i = 0; i < n; i++) a[i+1] = 1;"),
]


@pytest.mark.parametrize(("statements", "expected"), BECOMES)
def test_becomes(statements: str, expected: str) -> None:
    assert text(statements, "int n, int m, float *a, float *b") == expected


SAME = """
int f0(int n, int m, int *a) { int i = n; while (--i >= 0) a[i] += i; return i; }
int f1(int n, int m, int *a) { while (--n > m) a[n] += n; return n; }
int f2(int n, int m, int *a) { int i = -1; while (++i < n) a[i] += i; return i; }
int f3(int n, int m, int *a) { int i = n; while (i > 0) { --i; if (a[i] & 1) continue; a[i] += i; }
  return i; }
int f4(int n, int m, int *a) { unsigned long i = n; while (i != 0) { i = i - 1; a[i] += i; }
  return i; }
int f5(int n, int m, int *a) { int i = m; while (i < n) { i++; a[i] += i; } return i; }
int f6(int n, int m, int *a) { int i = m; while (i++ < n) a[i] += i; return i; }
int f7(int n, int m, int *a) { int i = n; while (i-- > m) a[i] += i; return i; }
int f8(int n, int m, int *a) { int i = n, s = 0; while (i > 0) { --i; int k = i; while (k > 0) {
  --k; s += a[k] * i; } } return s; }
int f9(int n, int m, int *a) { n++; while (--n) a[n] += n; return n; }
int f11(int n, int m, int *a) { int i; for (i = 0; i < n; i++) { if (i > m) break; a[i] += i; }
  return i; }
int f12(int n, int m, int *a) { int i = 0; for (;;) { if (i >= n) break; if (i == m) break;
  a[i] += i; ++i; } return i; }
int f13(int n, int m, int *a) { int i; for (i = n; --i >= 0;) a[i] += i; return i; }
int f14(int n, int m, int *a) { for (int i = m; ++i < n;) a[i] += i; return n; }
int f15(int n, int m, int *a) { int t = 0; for (int i = 0; i < n; i++) for (int k = 0; k < 9; k++) {
  if (k >= a[i]) break; t += a[k]; } return t; }
int f10(int n, int m, int *a) { for (unsigned i = n; i; ) { i--; a[i] += i; } return n; }
"""


@needs_compiler
def test_means_the_same() -> None:
    calls = [{"n": n, "m": m, "a": np.arange(16)} for n, m in [(0, 0), (1, 0), (5, 2), (9, 8)]]
    assert_same(SAME, *calls)


LEFT = [
    # The counter is seen where the loop is left.
    "int i = n; while (i > 0) { --i; if (a[i] > 0) break; a[i] = 1; } a[0] = i;",
    # The loop sets what is compared, or data say when it ends.
    "for (int i = 0; i < n; i++) { if (i > m) break; a[i] = 1; if (a[i]) m = m - 1; }",
    "for (int i = 0; i < n; i++) { if (a[i] > m) break; a[i] = 1; }",
    # It is set, or hidden, on the way.
    "int i = n; while (i > 0) { --i; a[i] = 1; i = i - m; }",
    "int i = n; while (i > 0) { --i; int i = 2; a[i] = 1; }",
    "int i = n; while (--i >= 0) { a[i] = 1; i = i - 1; }",
    # It may wrap around.
    "unsigned i = n; while (--i > 0) a[i] = 1;",
    "unsigned char i = 0; while (i < n) { i++; a[i] = 1; }",
]


@pytest.mark.parametrize("statements", LEFT)
def test_stays_as_it_is(statements: str) -> None:
    assert opaques(body(statements, "int n, int m, float *a")) or "while" in text(
        statements, "int n, int m, float *a"
    )


def _loop(rng: random.Random, n: int) -> str:
    type = rng.choice(["int", "long", "unsigned", "size_t", "short"])
    start, end = rng.choice([("n", "0"), ("m", "n"), ("n", "m"), ("3", "n")])
    cond = rng.choice(["i > {}", "i < {}", "i != 0", "i", "--i >= {}", "++i < {}", "i++ < {}"])
    cond = rng.choice([cond, cond, "i-- > {}", "--i > {}", "{} > i"]).format(end)
    step = rng.choice(["--i;", "i++;", "i -= 1;", "i = i + 1;"]) if cond[-2:] != "-i" else ""
    step = "" if "++" in cond or "--" in cond else step
    leave = rng.choice(["", "", "", "if (a[i & 15] > 9) break;", "if (i & 1) continue;"])
    body = f"{step} {leave} a[i & 15] += i; if (++t > 40) break;"
    back = rng.choice(["t", "i + t"])
    head = f"{type} i = {start};\n  while ({cond})"
    if n % 2:
        head = f"{type} i;\n  for (i = {start}; {cond};)"
    return f"int f{n}(int n, int m, int *a) {{ int t = 0; {head} {{ {body} }} return {back}; }}\n"


@needs_compiler
@pytest.mark.parametrize("batch", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_random_loops_mean_the_same(batch: int) -> None:
    rng = random.Random(23 + batch)
    loops = [_loop(rng, n) for n in range(300 if batch else 40)]
    plain = [x.replace(" if (++t > 40) break;", "") if _ends(x) else x for x in loops]
    calls = [{"n": n, "m": m, "a": np.arange(16)} for n, m in [(0, 0), (5, 2), (2, 6), (8, 1)]]
    compared, reasons = compare("#include <stddef.h>\n" + "".join(plain), *calls)
    assert compared >= (50 if batch else 8), reasons


def _ends(loop: str) -> bool:
    """Whether a loop goes towards its bound for certain."""
    head, _, rest = loop.replace("for (i = ", "while (").partition("while (")
    rest = rest if "while" in loop else rest.partition("; ")[2]
    cond, _, body = rest.replace(";)", ")").partition(")")
    up = "<" in cond or cond.endswith("> i")
    steps_up = "++" in cond or "i++" in body or "i + 1" in body
    signed = "unsigned" not in head and "size_t" not in head
    return up == steps_up and signed and "!" not in cond and cond != "i"
