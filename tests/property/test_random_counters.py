"""Counted subscripts in closed form, bounds and windows written out: the same elements in the same
order, against what the compiler makes of the text."""

from __future__ import annotations

import random

import numpy as np
import pytest
from random_counters import PARAMS, SIZE, Counters

from loopxform.api.loops_as_meant import with_loops_as_meant
from loopxform.frontend import parse_file
from loopxform.ir.evaluate import evaluate
from loopxform.ir.nodes import Function, Opaque
from loopxform.ir.visit import walk
from loopxform.verify.cref import CSource, Library
from loopxform.verify.interp import run

CALLS = ((3, 4), (5, 1), (0, 3), (2, 0), (1, 5), (-1, 2))


def compared(text: str) -> tuple[int, int]:
    """How many functions of a text are changed, and how many stay as they are; both mean what the
    compiler makes of the text."""
    functions = [f for f in parse_file("t.c", text=text).unit.functions if not _is_opaque(f)]
    library = Library(CSource(text=text), functions)
    changed = 0
    for fn in functions:
        made = with_loops_as_meant(fn)
        changed += made is not fn
        for call in CALLS:
            _assert_same(fn, made, library, call)
    return changed, len(functions) - changed


def _is_opaque(fn: Function) -> bool:
    return any(isinstance(s, Opaque) for _, s in walk(fn.body))


def _assert_same(fn: Function, made: Function, library: Library, call: tuple[int, int]) -> None:
    sizes = dict(zip(("n", "m"), call))
    if not all(evaluate(e, sizes) for e in (*made.assumes, *made.representable)):
        return
    rng = np.random.default_rng(call[0] * 10 + 10 + call[1])
    given = {
        "a": rng.integers(0, 97, SIZE).astype("int32"),
        "len": rng.integers(-1, 6, 8).astype("int32"),
        "b": rng.integers(0, 97, SIZE).astype("int32"),
    }
    mine, theirs = ({**sizes, **{k: v.copy() for k, v in given.items()}} for _ in range(2))
    library.run(fn.name, theirs)
    for p in made.params:
        if p.array and len(p.shape) > 1:
            shape = [evaluate(d, sizes) if d is not None else -1 for d in p.shape]
            mine[p.name] = mine[p.name].reshape(shape)
    run(made, mine)
    for name in given:
        np.testing.assert_equal(np.ravel(mine[name]), theirs[name], err_msg=f"{fn.name}{call}")


@pytest.mark.parametrize("seed", range(2))
def test_random_counters(seed: int) -> None:
    _sweep(seed, 30)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 106))
def test_many_random_counters(seed: int) -> None:
    _sweep(seed, 100)


def _sweep(seed: int, number: int) -> None:
    drawn = Counters(random.Random(seed))
    changed, stayed = compared("\n".join(drawn.function(f"f{n}") for n in range(number)))
    assert changed > number // 5
    assert stayed


STAY = {
    "sums over rows and columns": "int s = 0;"
    " for (int t = 0; t < n*m; t++) { s += b[t % m]; a[t] = s; }",
    "elements that data name": "for (int t = 0; t < n*m; t++) a[b[t]] += t / m;",
    "the column before": "int j = 0; for (int t = 0; t < n*m; t++) { a[t] = j; j = t % m; }",
    "under a condition": "int t = 0; for (int i = 0; i < n; i++) if (b[i] > 9) a[t++] = i;",
    "growing by what grows": "int t = 0; for (int i = 0; i < n; i++) { a[t] = i; t += i; }",
    "set again": "int t = 9; for (int i = 0; i < n; i++) { a[t]++; t++; if (b[i] > 9) t = 2; }",
    "bounds from what is stored": "for (int i = 0; i < n; i++) { int e = a[i + 9]; a[i + 9] = 1;"
    " for (int j = 0; j < e; j++) a[i + j + 20] += 1; }",
    "bounds that change": "for (int i = 0; i < n; i++) { int e = m; if (b[i] > 50) e = i;"
    " for (int j = 0; j < e; j++) a[j] += i; }",
    "short": "short e = 0; for (int i = 0; i < n; i++) { e = len[i & 7];"
    " for (int j = 0; j < e; j++) a[j] += i; }",
}


@pytest.mark.parametrize("case", STAY)
def test_what_stays(case: str) -> None:
    assert compared(f"void f({PARAMS}) {{ {STAY[case]} }}") == (0, 1)


ROWS = {
    "rows and columns": "for (int t = 0; t < n*m; t++) { int i = t / m, j = t % m;"
    " a[(i + 1)*m + j] += b[t] + i*3 + j; }",
    "three": "for (int t = 0; t < n*m*3; t++) a[t / 3 % m*20 + t % 3 + t / (3*m)*3] += t % (3*m);",
    "by what is left": "for (int t = 0; t < m*n; t++) { int i = t / n; a[i + (t - i*n)*8] += t; }",
    "two in turn": "int k = n; for (int t = 0; t < n*m; t++) a[t % m] += t / m;"
    " for (int t = 0; t < k*m; t++) a[t / m + 40] -= t % m;",
}


@pytest.mark.parametrize("case", ROWS)
def test_rows_and_columns(case: str) -> None:
    assert compared(f"void f({PARAMS}) {{ {ROWS[case]} }}") == (1, 0)


def test_a_window_whose_start_changes() -> None:
    """It begins once, where C says it does."""
    window = "for (int k = i - 3 > z ? i - 3 : z; k < i + 4; k++) { s += b[k]; z = k + 9; }"
    body = f"for (int i = 0; i < n; i++) {{ int s = 0, z = 0; {window} a[i] = s; }}"
    assert sum(compared(f"void f({PARAMS}) {{ {body} }}")) == 1
