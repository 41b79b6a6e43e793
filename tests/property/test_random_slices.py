"""Random loops whose iterations use rows of arrays, in buffers: the step `buffer-slice` changes
nothing that the program computes, reads nothing outside of arrays, and is refused where it
would."""

from __future__ import annotations

import random
import re
from collections import Counter

import numpy as np
import pytest
from kernel_steps import copied

from loopxform.errors import LoopxformError
from loopxform.frontend import parse_file
from loopxform.ir.visit import loops
from loopxform.transforms import BufferSlice, Derivation
from loopxform.verify.check_run import arguments
from loopxform.verify.interp import Program

STATEMENTS = (
    "for (int j = @lo; j < @hi; j@st) { @c A[@r][@x] @op @v; }",
    "for (int j = @lo; j < @hi; j@st) { @c X[@r][@x] @op @v; }",
    "for (int j = @hi - 1; j >= @lo; j--) { @c s += A[@r][@x] - X[@r][j]; }",
    "if (s > 3) { for (int j = @lo; j < @hi; j++) A[@r][j] = s; } "
    "else { for (int j = @lo; j < @hi; j++) A[@r][j] = j; }",
    "if (s > 3) { for (int j = @lo; j < @hi; j++) A[@r][@x] @op @v; s += A[@r][@k]; }",
    "for (int t = 0; t < p; t++) { for (int j = @lo; j < @hi; j++) X[@r][j] = A[@r][j] + t; "
    "for (int j = @lo; j < @hi; j++) A[@r][j] = X[@r][@x]; }",
    "s += A[@r][@k]; X[@r][@k] @op s;",
    "while (s > 40) { s -= 7; A[@r][0] += 1; }",
)
PARTS = {
    "lo": ("0", "0", "0", "1", "i"),
    "hi": ("m", "m", "m", "m - 1", "m + 2", "i", "p"),
    "st": ("++", "++", " += 2"),
    "c": ("", "", "if (s & 1)", "if (j & 1)", "if (A[i][j] > 2)", "if (p > 1)", "if (i > 0)"),
    "r": (*["i"] * 14, "i + 1", "0", "n - 1 - i", "p"),
    "x": ("j", "j", "j", "m - 1 - j", "j + 1", "A[i][j] & 1"),
    "op": ("=", "=", "+=", "^="),
    "v": ("s", "i", "j", "A[i][j]", "X[i][j] + 1", "A[i][m - 1 - j] & 7"),
    "k": ("0", "m - 1", "1", "i", "p"),
}
ARRAYS = (
    "int A[restrict n + 2][m + 2], int X[restrict n + 2][m + 2]",
    "int A[restrict n][m], int X[restrict n][m]",
)


def program(rng: random.Random) -> str:
    lines = rng.choices(STATEMENTS, k=rng.randint(1, 3))
    body = re.sub(r"@(\w+)", lambda found: rng.choice(PARTS[found[1]]), " ".join(lines))
    first = rng.choice("001")
    return (
        f"void f(int n, int m, int p, {rng.choice(ARRAYS)}) "
        f"{{ for (int i = {first}; i < n; i++) {{ int s = i + 2; {body} }} }}"
    )


def check(seed: int, counts: Counter[str]) -> None:
    rng = random.Random(seed)
    text = program(rng)
    fn = parse_file("f.c", text=text).unit.functions[0]
    every = (BufferSlice(a, x.loop.var) for a in "AX" for x in loops(fn))
    for step in dict.fromkeys(every):
        if step.check(fn):
            counts["refused"] += 1
            continue
        counts["accepted"] += 1
        after = Program(Derivation(fn).then(step).function)
        for m in (0, 1, 2, 5):
            sizes = {"n": rng.randint(1, 4), "m": m, "p": rng.randint(0, 4)}
            try:
                args = arguments(fn, sizes, seed)
                wanted, found = copied(args), copied(args)
                Program(fn).run(wanted)
            except LoopxformError:
                continue  # a subscript of the program's own lies outside of its array
            after.run(found)
            counts["runs"] += 1
            for name, values in wanted.items():
                assert np.array_equal(values, found[name]), f"{seed}: {step}, {sizes}\n{text}"


@pytest.mark.parametrize("seed", [0])
def test_random_slices(seed: int) -> None:
    counts = Counter[str]()
    for n in range(15):
        check(seed * 10000 + n, counts)
    assert min(counts[x] for x in ("refused", "accepted", "runs")) >= 2, counts


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1])
def test_many_random_slices(seed: int) -> None:
    counts = Counter[str]()
    for n in range(300):
        check(seed * 10000 + n, counts)
    assert min(counts[x] for x in ("refused", "accepted", "runs")) >= 20, counts
