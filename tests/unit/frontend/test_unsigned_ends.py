"""Ends of loops that unsigned locals hold: the numbers that these are set to; the same as C's."""

from __future__ import annotations

import random

import numpy as np
import pytest
from differential import compare, needs_compiler
from lowering import text

PARAMS = "unsigned n, unsigned m, int k, float *a"
CLAMPED = "unsigned e = i + 8; if (e > n) e = n;"
LOOP = "for (unsigned i = 0; i < n; i += 8) {{ {} for (unsigned j = i; j < e; j++) a[j] = 1; }}"

BECOMES = {
    CLAMPED: "for (j = i; j < min(n, i + 8); j++)",
    "unsigned e = i + 8 < n ? i + 8 : n;": "for (j = i; j < min(i + 8, n); j++)",
    "unsigned e = n; if (i + 8 <= e) e = i + 8;": "for (j = i; j < min(i + 8, n); j++)",
    "unsigned e = i; if (e < m) { e = m; }": "for (j = i; j < max(m, i); j++)",
    # Numbers with a sign are converted, and another value may be left.
    "unsigned e = k; if (e > n) e = n;": "for (j = i; j < e; j++)",
    "unsigned e = i + 8; if (e > n) e = m;": "for (j = i; j < e; j++)",
    "unsigned e = i + 8; if (e > n - 1) e = n;": "for (j = i; j < e; j++)",
    "unsigned e = a[i]; if (e > n) e = n;": "for (j = i; j < e; j++)",
    "unsigned char e = i; if (e > n) e = n;": "for (j = i; j < e; j++)",
}


@pytest.mark.parametrize("value", BECOMES)
def test_becomes(value: str) -> None:
    assert BECOMES[value] in text(LOOP.format(value), PARAMS)


def _function(rng: random.Random, n: int) -> str:
    type = rng.choice(["unsigned", "size_t", "unsigned", "int"])
    ends = [f"i + {rng.choice([4, 8])}", "n", "m", "i", "n - i", "(unsigned)k", "n - 1"]
    a, b, c = (rng.choice(ends) for _ in range(3))
    op = rng.choice(["<", ">", "<=", ">="])
    value = rng.choice(
        [
            f"{type} e = {a}; if (e {op} {b}) e = {b};",
            f"{type} e = {a} {op} {b} ? {a} : {b};",
            f"{type} e; if ({a} {op} {b}) e = {a}; else e = {rng.choice([b, b, c])};",
            f"{type} e = {a}; if (e {op} {b}) {{ e = {b}; }} if (e {op} {c}) e = {c};",
        ]
    )
    loop = rng.choice(
        [
            f"for (unsigned j = {rng.choice(['i', '0'])}; j < e && j < 40; j++) a[j] += i + 1;",
            "for (unsigned j = 0; j < e && j < 40; j++) { a[j] += e; }",
            "if (e < 40) a[e] += i;",
        ]
    )
    head = f"unsigned f{n}(unsigned n, unsigned m, int k, int *a)"
    return f"{head} {{ for (unsigned i = 0; i < n; i += 4) {{ {value} {loop} }} return n; }}\n"


@needs_compiler
@pytest.mark.parametrize("count", [40, pytest.param(200, marks=pytest.mark.slow)])
def test_random_ends_mean_the_same(count: int) -> None:
    print("seed 7")
    rng = random.Random(7)
    source = "#include <stddef.h>\n" + "".join(_function(rng, n) for n in range(count))
    sizes = ((0, 0, 0), (1, 3, -1), (9, 4, 5), (22, 30, -7))
    calls = [{"n": n, "m": m, "k": k, "a": np.arange(44)} for n, m, k in sizes]
    compared, reasons = compare(source, *calls)
    assert compared > count / 8, (compared, reasons[:5])
