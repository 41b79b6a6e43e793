"""The recipe `transposition` on random nests: arrays with permuted, shifted and mirrored subscripts
compute what the C program computes, also run by groups, in which races would show."""

from __future__ import annotations

import copy
import random
from collections import Counter

import pytest

from loopxform.codegen import emit
from loopxform.errors import LoopxformError
from loopxform.floating_point import SEPARATE
from loopxform.frontend import parse_file
from loopxform.recipes.tile import tile
from loopxform.targets.profile import PROFILES
from loopxform.verify.check_run import arguments
from loopxform.verify.compare import compare
from loopxform.verify.group.execute import execute
from loopxform.verify.interp import Program

LOOPS, SIZES = "ijkh", "nmlp"
HEADS = ("0; {v} < {n}", "0; {v} < {n}", "1; {v} < {n}", "0; {v} < {n} - 1", "2; {v} < {n} + 1")
INSIDE = ("0; j <= i && j < m", "i; j < m", "0; j < m && j < i + 2")
EVERY = ("n", "m", "l", "p")


def subscript(rng: random.Random, v: str) -> str:
    n = SIZES[LOOPS.index(v)]
    return rng.choice((v, v, v, f"{v} + 1", f"{n} + 1 - {v}", f"{v} + 2"))


def drawn(rng: random.Random) -> str:
    rank = rng.choice((2, 2, 2, 3, 3, 4))
    loops = LOOPS[:rank]
    params, reads = ["int n, int m, int l, int p"], list[str]()
    for array in ("A", "D")[: rng.choice((1, 1, 2))]:
        order = rng.sample(loops, rank)
        shape = "".join(f"[2 * {SIZES[LOOPS.index(v)]} + 9]" for v in order)
        kind = rng.choice(("float", "double", "int", "unsigned char"))
        params.append(f"const {kind} {array}{shape}")
        for _ in range(rng.choice((1, 1, 2, 3))):
            reads.append(array + "".join(f"[{subscript(rng, v)}]" for v in order))
    order = rng.sample(loops, rank)
    params.append("float B" + "".join(f"[{SIZES[LOOPS.index(v)]} + 3]" for v in order))
    lines = [f"void f({', '.join(params)}) {{"]
    for v in loops:
        head = rng.choice(HEADS).format(v=v, n=SIZES[LOOPS.index(v)])
        if v == "j" and rng.random() < 0.2:
            head = rng.choice(INSIDE)
        lines.append(f"for (int {v} = {head}; {v}++)")
    store = "B" + "".join(f"[{v}]" for v in order) + f" = {' + '.join(reads)} * 2;"
    test = f"if ({rng.choice(reads)} > 0.3f) " if rng.random() < 0.2 else ""
    return "\n".join([*lines, f"{{ {test}{store} }}", "}"])


def sweep(seed: int, count: int) -> Counter[str]:
    rng, counts = random.Random(f"transpositions {seed}"), Counter[str]()
    for number in range(count):
        text = drawn(rng)
        (fn,) = parse_file("f.c", text=text).unit.functions
        sizes = {"Tx": rng.randint(1, 5), "Ty": rng.randint(1, 4), "Ry": rng.randint(1, 4)}
        try:
            done = tile(fn, sizes, None, PROFILES["h100"])
            plan = emit.kernel(done.derivation, fp=SEPARATE)
        except LoopxformError as e:
            counts[e.code] += 1
            continue
        counts[done.recipe] += 1
        if done.recipe != "transposition":
            continue
        for top in (1, 5, 9):
            values = {n: rng.randint(0, top) for n in EVERY}
            given = arguments(plan.start, values, number)
            expected, by_groups = copy.deepcopy(given), copy.deepcopy(given)
            Program(plan.start).run(expected)
            Program(done.function).run(given, order_seed=number)
            execute(plan, by_groups, seed=number)
            assert not compare(expected, given), (text, sizes, values)
            assert not compare(expected, by_groups), (text, sizes, values)
    return counts


def test_random_transpositions() -> None:
    counts = sweep(1, 10)
    assert counts["transposition"] > 2, counts


@pytest.mark.slow
@pytest.mark.parametrize("seed", [100, 101, 102])
def test_many_random_transpositions(seed: int) -> None:
    counts = sweep(seed, 150)
    assert counts["transposition"] > 50, counts
