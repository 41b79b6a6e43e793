"""Random reductions in chunks and in groups: what comes of them is what the C program computes.

One to three integers are reduced by random operators, some under a condition, in a loop with no,
one or two parallel loops around it. Chunks, groups and tiles have any size, the arrays 0 to 40
elements; foralls run in text order and shuffled, and every program has its kernels written.
"""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pytest

from loopxform.codegen import emit
from loopxform.errors import LoopxformError, TransformError
from loopxform.frontend import parse_file
from loopxform.ir.nodes import Function
from loopxform.recipes.tile import tile
from loopxform.schedule.params import Options, Recipe
from loopxform.verify.check_run import arguments
from loopxform.verify.interp import Program

HEAD = """void f(int n, int m, int p, const int A[restrict n][p], const int B[restrict p][m],
  const int X[restrict p + 3], const short H[restrict n][m][p], int C[restrict n + 1][m + 1][3])
"""
READS = {
    0: ("X[k]", "X[k + 1]", "X[k] * X[k + 2]", "k"),
    1: ("A[i][k]", "A[i][k] * X[k]", "X[k] + i"),
    2: ("A[i][k] * B[k][j]", "H[i][j][k]", "A[i][k] - B[k][j]", "X[k] * j"),
}
UPDATES = (
    *("{s} += {e};", "{s} -= {e};", "{s} = {s} + {e};", "{s} *= {e};", "{s} ^= {e};"),
    *("{s} |= {e};", "{s} &= {e};", "if ({e} > {s}) {s} = {e};", "{s} = {e} < {s} ? {e} : {s};"),
    *("if ({e} > 1) {s}++;", "{s} = {e} > 0 && {s};", "{s} = {e} == 4 || {s};"),
    "if ({e} <= {s}) {s} = {e};",
)
BOUNDS = (
    "0; k < p; k++",
    "0; k < p; k++",
    "1; k < p; k++",
    "0; k < p; k += 3",
    "2; k <= p - 1; k++",
)


def text(rng: random.Random) -> str:
    """A random reduction."""
    around = rng.choice((0, 0, 1, 1, 2))
    lines = [HEAD + "{"]
    lines += ["for (int i = 0; i < n; i++)", "for (int j = 0; j < m; j++)"][:around]
    lines.append("{" if around else "")
    count = rng.randint(1, 3)
    updates = [rng.choice(UPDATES) for _ in range(count)]
    for s, update in enumerate(updates):
        truth = "&&" in update or "||" in update
        lines.append(f"int s{s} = {rng.choice(('1', '0') if truth else ('3', '-7', '0'))};")
    body = (u.format(s=f"s{s}", e=rng.choice(READS[around])) for s, u in enumerate(updates))
    lines.append(f"for (int k = {rng.choice(BOUNDS)}) {{ {' '.join(body)} }}")
    place = ("i" if around else "n") + "][" + ("j" if around > 1 else "m")
    for s in range(count):
        lines.append(f"C[{place}][{s}] {rng.choice(('=', '+='))} s{s};")
    return "\n".join([*lines, "}" if around else "", "}"]) + "\n"


def check(name: str, source: str, counts: Counter[str]) -> None:
    fn: Function = parse_file("f.c", text=source).unit.functions[0]
    rng = random.Random(name)
    runs = [
        {"n": rng.randint(0, 3), "m": rng.randint(0, 3), "p": rng.choice((0, 1, 2, 7, 13, 40))}
        for _ in range(3)
    ]
    expected = []
    for seed, sizes in enumerate(runs):
        args = arguments(fn, sizes, seed)
        Program(fn).run(args)
        expected.append(args["C"])
    recipes: tuple[Recipe | None, ...] = (None, "reduce", "naive")
    for recipe in recipes:
        tiles = {t: rng.randint(1, 5) for t in ("Ty", "Tk", "Ry", "Rx")} | {
            "Tx": rng.choice((1, 2, 3, 5, 17, 20))
        }
        options = Options(Rk=rng.choice((None, 1, 2, 3)))
        try:
            done = tile(fn, tiles, recipe, options=options)
            emit.kernel(done.derivation)
        except TransformError as e:
            counts[f"refused {e.obstacles[0].code}"] += 1
            continue
        except LoopxformError as e:
            counts[f"refused {e.code}: {e.message}"] += 1
            continue
        counts[f"{recipe or 'auto'}: {done.recipe}"] += 1
        program = Program(done.function)
        for seed, sizes in enumerate(runs):
            for order in (None, 1, 2):
                found = arguments(done.derivation.start, sizes, seed)
                program.run(found, order_seed=order)
                same = np.array_equal(expected[seed], found["C"])
                assert same, f"{name}: {recipe} {tiles} {options} at {sizes}\n{source}"


def sweep(seed: int, count: int) -> Counter[str]:
    counts: Counter[str] = Counter()
    rng = random.Random(f"reductions {seed}")
    for n in range(count):
        check(f"seed {seed}, reduction {n}", text(rng), counts)
    return counts


def test_random_reductions() -> None:
    counts = sweep(1, 8)
    print(counts)
    assert counts["auto: reduce"] >= 2, counts
    assert counts["reduce: reduce"] >= 4, counts
    assert counts["naive: naive"] >= 4, counts


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 103))
def test_many_random_reductions(seed: int) -> None:
    print(sweep(seed, 60))
