"""Loops whose counters, bounds and rows have integers of different types, and loops that count down
without a sign: they are what they are with `int`."""

from __future__ import annotations

import pytest
from harness import assert_runs_agree

import loopxform as lx
from loopxform.codegen import emit
from loopxform.floating_point import SEPARATE
from loopxform.ir.printer import expr_text, listing
from loopxform.targets.profile import PROFILES
from loopxform.verify.cref import CSource

SUMS = "const int *restrict m, int *restrict s"
COLUMNS = "for (i = {0}; i < n; i++) for (j = 0; j < w; j++) s[j] += m[i, j];"
COPY = "const int *restrict a, int *restrict b"
LONG = "n <= 9223372036854775807"

MEANT = {
    "rows of size_t": (
        "size_t i = 0; while (i < n) { for (int j = 0; j < w; j++) s[j] += m[i*w + j]; ++i; }",
        f"size_t n, int w, {SUMS}",
        COLUMNS.format(0),
        ["n <= 2147483647"],
    ),
    "columns of size_t": (
        "int i = 0; while (i < n) { for (size_t j = 0; j < w; j++) s[j] += m[i*w + j]; i += 1; }",
        f"int n, size_t w, {SUMS}",
        COLUMNS.format(0),
        ["w <= 2147483647"],
    ),
    "rows from the second on": (
        "for (unsigned i = 1; i < n; i++) for (long j = 0; j < w; j++) s[j] += m[i*w + j];",
        f"unsigned n, long w, {SUMS}",
        COLUMNS.format(1),
        [],
    ),
    "rows of a width that may be negative": (
        "for (size_t i = 0; i < n; i++) s[i] += m[i*w];",
        f"size_t n, int w, {SUMS}",
        "for (i = 0; i < n; i++) s[i] += m[(unsigned long)(i*w)];",
        [],
    ),
    "down": (
        "while (n--) b[n] = a[n];",
        f"size_t n, {COPY}",
        "for (n_2 = (long)n - 1; n_2 > -1; n_2--) b[n_2] = a[n_2];",
        [LONG],
    ),
    "down, pointers up": (
        "while (n--) *b++ = *a++;",
        f"size_t n, {COPY}",
        "b_offset = 0; a_offset = 0; for (n_2 = (long)n - 1; n_2 > -1; n_2--)"
        " b[b_offset] = a[a_offset]; b_offset += 1; a_offset += 1;",
        [LONG],
    ),
    "down, then read": (
        "while (n--) b[n] = a[n]; b[0] = (int)n;",
        f"unsigned n, {COPY}",
        "for (n_2 = (long)n - 1; n_2 > -1; n_2--) b[n_2] = a[n_2]; n = -1; b[0] = (int)n;",
        [],
    ),
    "down, in a loop": (
        "for (int t = 0; t < 2; t++) { while (n--) b[n] = a[n]; n = 3; }",
        f"unsigned n, {COPY}",
        "for (t = 0; t < 2; t++) for (n_2 = (long)n - 1; n_2 > -1; n_2--) b[n_2] = a[n_2];"
        " n = -1; n = 3;",
        [],
    ),
}


@pytest.mark.parametrize("name", MEANT)
def test_meant(name: str) -> None:
    body, params, text, assumes = MEANT[name]
    fn = lx.loads(f"#include <stddef.h>\nvoid f({params}) {{ {body} }}")["f"].function
    assert " ".join(listing(fn).split()) == text
    assert list(map(expr_text, fn.assumes)) == assumes


RUN = {
    **{k: MEANT[k][:2] for k in ("rows of size_t", "columns of size_t", "down, pointers up")},
    "histogram": (
        "while (n--) h[*p++]++;",
        "size_t n, const unsigned char p[restrict n], unsigned h[restrict 256]",
    ),
    "sum": (
        "int s = 0; while (n-- > 0) s += *a++; b[0] = s;",
        "int n, const int a[restrict 300], int b[restrict 1]",
    ),
    "largest, by a counter that goes down": (
        "int s = 0; for (int i = n - 1; i >= 0; i--) s = a[i] > s ? a[i] : s; b[0] = s;",
        f"int n, {COPY}",
    ),
}


@pytest.mark.device
@pytest.mark.parametrize("name", RUN)
def test_as_the_c_program(name: str) -> None:
    body, params = RUN[name]
    params = params.replace("*restrict a", "a[restrict n]").replace("*restrict b", "b[restrict n]")
    text = f"#include <stddef.h>\nvoid f({params}) {{ {body} }}\n"
    done = lx.loads(text)["f"].offload(contract=False, limits=PROFILES["pocl"])
    assert {p.kind for p in done.parts} == {"kernel"}
    plan = emit.kernel(done.derivation, fp=SEPARATE)
    several = [{"n": n, "w": 37} if "w" in params.split("*")[0] else {"n": n} for n in (1, 5, 300)]
    assert_runs_agree(plan, CSource(text=text), several, 3)
