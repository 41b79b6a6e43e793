"""Random summed-area tables and random rows between row starts: as running values of their rows,
in loops of their own, and rows at the same time, they mean the same, in any order of what is
parallel.

Every failure names its seed, which makes the same program again.
"""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import numpy as np
import pytest
from deriving import assert_same_meaning, c

import loopxform as lx
from loopxform.transforms import DeferUpdate, Derivation, RowsApart, RowSums
from loopxform.verify.interp import Program

BLOCKS = (0, *(pytest.param(n, marks=pytest.mark.slow) for n in range(1, 5)))
"""Forty programs each."""
KINDS = ("int", "int", "unsigned", "long", "unsigned char")


def table(rng: random.Random) -> str:
    """Four elements of a table and something else, mostly with the signs of a summed-area table,
    from either corner, sometimes among other statements."""
    down, right = rng.choice((1, -1)), rng.choice((1, -1))
    row, column = ("i" if down > 0 else "n - 1 - i"), ("j" if right > 0 else "n - 1 - j")
    edges = rng.choice(((1, 1), (1, 1), (2, 1), (0, 1), (1, 2)))

    def element(up: int, left: int) -> str:
        return f"x[{row} + {1 - up * down}][{column} + {1 - left * right}]"

    terms = [f"+ {element(edges[0], 0)}", f"+ {element(0, edges[1])}", f"- {element(*edges)}"]
    terms += rng.sample(["+ a[i][j]", "+ a[i][j] * v", "- (a[j][i] + 3)", "+ v", "- x[0][0]",
                         "+ a[i][j] / 3"], rng.choice((1, 1, 2)))  # fmt: skip
    if rng.random() < 0.15:
        terms[rng.randrange(3)] = rng.choice(["+ x[i][j]", "- v", "- x[i][0]"])
    rng.shuffle(terms)
    body = [f"{element(0, 0)} = {' '.join(['0', *terms])};"]
    body += rng.sample(["b[i][j] = a[i][j] + 1;", "v = a[j][i] - 2;", "a[i][j] += 1;"],
                       rng.choice((0, 0, 1)))  # fmt: skip
    rng.shuffle(body)
    return (
        "void f(int n, const int u, int a[n][n], int b[n][n], "
        f"{rng.choice(KINDS)} x[restrict n + 3][n + 3])\n"
        f"{{ int v = u; for (int i = 1; i < n - 1; i++) for (int j = {rng.choice('12')}; "
        f"j < n - 1; j++) {{ {' '.join(body)} }} }}\n"
    )


@pytest.mark.parametrize("block", BLOCKS)
def test_tables_keep_their_meaning(block: int) -> None:
    taken = Counter[str]()
    for seed in range(block * 40, block * 40 + 40):
        rng = random.Random(f"tables {seed}")
        text = table(rng)
        d = Derivation(lx.loads(text)["f"].function)
        d, _ = d.optional(RowSums("x", "j"))
        if rng.random() < 0.7:
            d, _ = d.optional(DeferUpdate("x", "j"))
        try:
            assert_same_meaning(d.start, d.function, (0, 1, 3, 6))
        except AssertionError as e:
            raise AssertionError((seed, text)) from e
        taken.update({r.step.verb for r in d.records})
    assert taken["row-sums"] >= taken["defer-update"] >= 5, taken


def rows(rng: random.Random) -> str:
    """What iterations do with elements between two row starts, or next to them, or at the same
    places behind one start."""
    if rng.random() < 0.4:
        return cells(rng)
    place = rng.choice(("k", "k", "k", "k", "k - 1", "k + 1"))
    read = rng.choice(("y[k]", "y[k]", "v[k]", "v[k + 1]", "y[k - 1]", "y[k + 1]", "s"))
    body = ["s += v[k];", f"y[{place}] = {read} + {rng.choice(('s', 'r', 'v[k]'))};"]
    rng.shuffle(body)
    first = rng.choice(("p[r]", "p[r]", "p[r]", "p[r] + 1"))
    last = rng.choice(("p[r + 1]", "p[r + 1]", "p[r + 1]", "p[r + 1] - 1", "p[r + 2]"))
    ahead = f"int k = {first}; k < {last}; k++"
    header = rng.choice((ahead, ahead, f"int k = {last} - 1; k >= {first}; k--"))
    after = rng.choice(("z[r] = s;", "z[r] += 2;", "z[0] += s;", ""))
    loop = f"for ({header}) {{ {' '.join(body)} }}"
    return c(f"for (int r = 0; r < n; r++) {{ int s = 0; {loop} {after} }}",
             "int n, int m, int p[n + 2], int v[m], int y[m], int z[n]")  # fmt: skip


def cells(rng: random.Random) -> str:
    """What iterations do with elements behind a start."""
    shift, scale = rng.choice(("", "", " + 1", " - 1")), rng.choice(("", "", "2 * "))
    start = rng.choice(("p[r]", "p[r]", "p[r + 1]", "p[r] + r", "p[n - r]", "v[r]"))
    place = rng.choice((f"s + {scale}i{shift}", f"s + {scale}i{shift}", "s + 1", "p[r] + i"))
    read = rng.choice(("y[s + i]", "y[s]", "y[s + 1]", "v[i]", f"y[{place}]", "y[r]"))
    header = rng.choice(
        ("int i = 0; i < 2; i++", "int i = 1; i >= 0; i--", "int i = 0; i < m / 9; i++")
    )
    loop = f"for ({header}) y[{place}] {rng.choice(('=', '+='))} {read} + r;"
    guard = rng.choice(("", "", "if (v[r] > 4) ", "for (int k = 0; k < v[r]; k++) "))
    return c(f"for (int r = 0; r < n; r++) {{ int s = {start}; {guard}{loop} }}",
             "const int n, const int m, int p[n + 2], int v[m], int y[m], int z[n]")  # fmt: skip


def starts(rng: random.Random, count: int) -> list[int]:
    """Of `count` rows and one more, in 1 .. 10; mostly ascending."""
    drawn = [rng.randint(1, 10) for _ in range(count + 2)]
    return sorted(drawn) if rng.random() < 0.6 else drawn


def given(rng: random.Random, count: int) -> dict[str, Any]:
    def ints(size: int) -> np.ndarray[Any, Any]:
        return np.array([rng.randint(1, 9) for _ in range(size)], np.int32)

    p = np.array(starts(rng, count), np.int32)
    return {"n": count, "m": 20, "p": p, "v": ints(20), "y": ints(20), "z": ints(count)}


@pytest.mark.parametrize("block", BLOCKS)
def test_rows_keep_their_meaning(block: int) -> None:
    taken = Counter[str]()
    for seed in range(block * 40, block * 40 + 40):
        rng = random.Random(f"rows {seed}")
        text = rows(rng)
        d, refused = Derivation(lx.loads(text)["f"].function).optional(RowsApart("r"))
        taken["refused" if refused else "taken"] += 1
        before, after = Program(d.start), Program(d.function)
        for count in (0, 1, 2, 3, 5):
            args = given(rng, count)
            expected = {name: np.copy(x) for name, x in args.items()}
            before.run(expected)
            for order in (None, 1, 2):
                results = {name: np.copy(x) for name, x in args.items()}
                after.run(results, order_seed=order)
                for name in "yz":
                    assert np.array_equal(results[name], expected[name]), (seed, text, args, order)
    assert min(taken["taken"], taken["refused"]) >= 5, taken
