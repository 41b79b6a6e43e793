"""Random sums in the lanes of vectors, and in columns: what the program says, for every size."""

from __future__ import annotations

import random

import numpy as np
import pytest
from deriving import c

import loopxform as lx
from loopxform.errors import TransformError
from loopxform.recipes.tile import tile
from loopxform.schedule.params import Options
from loopxform.targets.profile import PROFILES
from loopxform.transforms import Derivation, VectorAccumulators
from loopxform.verify.interp import Program

TYPES = ("int", "unsigned", "long", "short", "unsigned char")
UPDATES = (
    "{s} += {e};",
    "{s} -= {e};",
    "{s} ^= {e};",
    "{s} |= {e};",
    "if ({e} > {s}) {s} = {e};",
    "{s} = {e} < {s} ? {e} : {s};",
    "if (a[i][k] & 1) {s} += {e};",
    "{{ int u = {e}; if (u > 2) {s} += u; else {s} += 1; }}",
)
SIZES = ((0, 0), (1, 1), (3, 2), (4, 7), (5, 8), (2, 33), (37, 3))


def program(rng: random.Random, *, columns: bool) -> str:
    """A nest of sums along rows, or down `columns`."""
    kind, own = rng.choice(TYPES), rng.choice(TYPES[:3])
    operand = rng.choice(("a[i][k]", "a[i][k] + k", "a[i][k] * 3", "(a[i][k] >> 1) - i"))
    names = rng.sample(("s", "t"), rng.randint(1, 2))
    body = " ".join(rng.choice(UPDATES).format(s=s, e=operand) for s in names)
    first, last = rng.choice(("0", "1", "3")), "m"
    step = rng.choice(("k++", "k++", "k += 2", "k += 3"))
    count = rng.choice(("int", "int", "long"))
    if rng.random() < 0.25 and not columns:
        first = rng.choice(("i", "i + 1"))
    inner = f"for ({count} k = {first}; k < {last}; {step}) {{ {body} }}"
    row, column = ("m", "n") if columns else ("n", "m")
    if columns:
        inner = inner.replace("a[i][k]", "a[k][i]")
    params = f"int n, int m, const {kind} a[restrict {row}][{column}], {own} y[restrict n]"
    begins = " ".join(f"{own} {s} = {rng.choice(('0', '7', 'y[i]'))};" for s in names)
    stores = f"y[i] = {' ^ '.join(names)};"
    return c(f"for (int i = 0; i < n; i++) {{ {begins} {inner} {stores} }}", params)


def assert_same(before: Program, after: Program, text: str, seed: int) -> None:
    draws = np.random.default_rng(seed)
    types = {p.name: p.type.numpy for p in before.fn.params}
    for n, m in SIZES:
        shape = (m, n) if "a[restrict m]" in text else (n, m)
        a = draws.integers(0, 9, shape).astype(types["a"])
        y = draws.integers(0, 9, n).astype(types["y"])
        results = []
        for p in (before, after):
            given = {"n": n, "m": m, "a": a.copy(), "y": y.copy()}
            p.run(given, order_seed=seed)
            results.append(given["y"])
        assert np.array_equal(*results), (text, n, m)


@pytest.mark.parametrize(
    "block", [0, *(pytest.param(b, marks=pytest.mark.slow) for b in range(1, 6))]
)
def test_lanes_and_columns_keep_the_meaning(block: int) -> None:
    """By the step alone, and as devices that run work-items in turn are tiled for."""
    taken = dict.fromkeys(("step", "lanes", "columns"), 0)
    options = Options(reassociate=True)
    for number in range(12):
        seed = 100 * block + number
        rng = random.Random(f"lanes {seed}")
        text = program(rng, columns=number % 3 == 2)
        (routine,) = lx.loads(text)
        fn = routine.function
        step = VectorAccumulators("k", rng.choice("2345"), "reassociate")
        after = Derivation(fn).tried(step)
        if not isinstance(after, TransformError):
            taken["step"] += 1
            assert_same(Program(fn), Program(after.function), text, seed)
        done = tile(fn, {}, limits=PROFILES["pocl"], options=options)
        if done.recipe in taken:
            taken[done.recipe] += 1
        assert_same(Program(fn), Program(done.function), text, seed)
    print(f"seeds {100 * block} to {100 * block + 11}: {taken}")
    assert taken["step"] >= 6, taken
    assert taken["lanes"] >= 3, taken
    assert taken["columns"] >= 2, taken
