"""Random stencils in random domains, skewed, interchanged and run as wave fronts, and eliminations
by rows turned to columns: they compute what they did, whatever order parallel iterations run in."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from deriving import arguments
from random_nests import lowered
from test_steps import Reference

from loopxform.errors import TransformError
from loopxform.ir.printer import listing
from loopxform.ir.visit import loops
from loopxform.offload.right_looking import by_columns
from loopxform.offload.wavefront import wave_fronts
from loopxform.transforms import Derivation, Interchange, Parallelise, SinkTail, Skew

EXTENT, OFFSET = 60, 24
SIZES = (0, 1, 2, 5, 8)


def stencil(rng: random.Random) -> str:
    """Two or three loops, up or down, rectangular or not, around one update in place."""
    depth = rng.choice([2, 2, 3])
    loops = "ijk"[:depth]
    head = [f"for (int {v} = {header(rng, v, loops[:n])})" for n, v in enumerate(loops)]
    own = loops[-2:]
    reads = (f"A[{at(rng, own[0])}][{at(rng, own[1])}]" for _ in range(rng.choice([1, 2, 3, 4])))
    target = f"A[{own[0]} + {OFFSET}][{own[1]} + {OFFSET}]"
    body = f"{target} = {' + '.join(reads)} + {'*'.join(loops)};"
    return f"void f(int n, int m, int A[{EXTENT}][{EXTENT}]) {{ {' '.join(head)} {body} }}"


def header(rng: random.Random, v: str, around: str) -> str:
    low, high = rng.choice(["0", "0", "1", "-2"]), rng.choice(["n", "m", "n", "6"])
    if around and rng.random() < 0.5:
        outer = rng.choice(around)
        low = rng.choice([low, outer, f"{outer} + 1", f"{outer} - 3", f"2*{outer} - 4"])
        high = rng.choice([high, f"{outer} + 2", f"n - {outer}"]) if low[0] in "01-" else high
    if rng.random() < 0.3:
        return f"{high} - 1; {v} >= {low}; {v}--"
    return f"{low}; {v} < {high}; {v}++"


def at(rng: random.Random, v: str) -> str:
    return f"{v} + {OFFSET + rng.choice([-1, -1, 0, 0, 1])}"


def reference(name: str, text: str) -> Reference:
    fn = lowered(text)
    return Reference(f"{name}\n{text}", fn, [arguments(fn, n) for n in SIZES])


def sweep_fronts(seed: int, count: int) -> Counter[str]:
    """The recipe: where it finds fronts, all points of one run in any order."""
    counts: Counter[str] = Counter()
    for n in range(seed * 100_000, seed * 100_000 + count):
        text = stencil(random.Random(n))
        expected = reference(f"seed {n}", text)
        start = Derivation(lowered(text))
        found = wave_fronts(start, "i")
        counts["found" if found else "none"] += 1
        if found is None:
            continue
        done, front, _ = found
        for step in (Parallelise(s.loop.var) for s in loops(done.function) if s.loop.var != front):
            if not step.check(done.function):
                done = done.then(step)
                counts["parallel"] += 1
        expected.check(done.function, [str(r.step) for r in done.records])
    return counts


def sweep_steps(seed: int, count: int) -> Counter[str]:
    """Skewing and interchange at random: bounds that are turned around hold the same points."""
    counts: Counter[str] = Counter()
    for n in range(seed * 100_000, seed * 100_000 + count):
        rng = random.Random(n)
        text = stencil(rng)
        expected, done = reference(f"seed {n}", text), Derivation(lowered(text))
        for _ in range(6):
            chain = [s.loop.var for s in loops(done.function)]
            inner = rng.randrange(1, len(chain))
            outer = rng.randrange(inner) if rng.random() < 0.4 else inner - 1
            skew = Skew(chain[inner], chain[outer], rng.choice(["1", "1", "2", "-1", "-2", "3"]))
            step = rng.choice([skew, Interchange(chain[inner - 1], chain[inner])])
            try:
                done = done.then(step)
            except TransformError as e:
                counts[f"refused {e.obstacles[0].code}"] += 1
                continue
            counts[step.verb] += 1
            expected.check(done.function, f"{done.records}\n{listing(done.function)}")
    return counts


def rows(rng: random.Random) -> str:
    """Elimination by rows: updates of an element by earlier ones, and what follows them."""
    end = rng.choice(["i", "i", "i", "i - 1", "n"])
    inner = f"for (int j = {rng.choice(['0', '0', '1'])}; j < {end}; j++)"
    target = rng.choice(["x[i]", "x[i]", "x[j]", "x[i + 1]"])
    update = f"{target} = {target} * 3 + A[i][j] * x[{rng.choice(['j', 'j', 'i', 'j + 1'])}];"
    before = rng.choice(["", "", "x[i] = A[0][i];", "x[i + 1] = i;"])
    behind = rng.choice(["x[i] *= A[i][i];", "x[i] += x[i + 1];", "A[i][0] = x[i]; x[i] -= 1;"])
    size = f"int x[{EXTENT}], int A[{EXTENT}][{EXTENT}]"
    return (
        f"void f(int n, {size}) {{ for (int i = {rng.choice('011')}; i < n; i++) "
        f"{{ {before} {inner} {update} {behind} }} }}"
    )


def sweep_columns(seed: int, count: int) -> Counter[str]:
    """Statements behind a loop as its last iteration, and then by columns, where that is legal."""
    counts: Counter[str] = Counter()
    for n in range(seed * 100_000, seed * 100_000 + count):
        text = rows(random.Random(n))
        expected, start = reference(f"seed {n}", text), Derivation(lowered(text))
        if SinkTail("j").check(start.function):
            counts["refused"] += 1
            continue
        embedded = start.then(SinkTail("j"))
        expected.check(embedded.function, listing(embedded.function))
        found = by_columns(start, "i")
        counts["columns" if found else "embedded"] += 1
        if found is not None:
            steps = (Parallelise(f"i#{k}") for k in range(1, 4))
            done = found
            for step in steps:
                done = done if step.check(done.function) else done.then(step)
            expected.check(done.function, listing(done.function))
    return counts


def test_random_columns() -> None:
    counts = sweep_columns(0, 40)
    assert min(counts["columns"], counts["embedded"], counts["refused"]) >= 2, counts


@pytest.mark.slow
@pytest.mark.parametrize("seed", [100])
def test_many_random_columns(seed: int) -> None:
    sweep_columns(seed, 1000)


@pytest.mark.parametrize("seed", [0])
def test_random_fronts(seed: int) -> None:
    counts = sweep_fronts(seed, 25)
    assert counts["found"] >= 3
    assert counts["parallel"] >= counts["found"]


@pytest.mark.parametrize("seed", [0])
def test_random_bounds(seed: int) -> None:
    counts = sweep_steps(seed, 20)
    assert min(counts["skew"], counts["interchange"], counts["refused LX101"]) >= 5


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 102))
def test_many_random_fronts(seed: int) -> None:
    sweep_fronts(seed, 150)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 102))
def test_many_random_bounds(seed: int) -> None:
    sweep_steps(seed, 150)
