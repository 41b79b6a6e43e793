"""Random programs, random steps: what a step accepts means the same, what it refuses collides.

Every failure names its seed; `random_nests.py` turns it back into the program. Programs run in the
interpreter, which rejects out-of-bounds accesses and elements that were never set, with foralls in
text order and shuffled.
"""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import numpy as np
import pytest
from random_nests import (
    SIZES,
    Redomap,
    imperfect,
    lowered,
    neighbours,
    nest_arguments,
    nests,
    redomaps,
)
from random_steps import ELSEWHERE, Chooser, FuseOrSplit, SinkOrParallelise
from tilings import Recipe, Tiles, tile
from tracing import TooLongError, claims, trace

from loopxform.errors import TransformError
from loopxform.ir.nodes import Copy, Function
from loopxform.ir.printer import listing
from loopxform.ir.visit import loops, walk
from loopxform.transforms import (
    STEPS,
    Derivation,
    Step,
    replay,
    step,
    with_tiles,
)
from loopxform.verify.interp import InterpError, Program

Arguments = dict[str, Any]
TILES = {"T": 2, "S": 3}


# ---------------------------------------------------------------- running


def copied(args: Arguments) -> Arguments:
    return {k: v.copy() if isinstance(v, np.ndarray) else v for k, v in args.items()}


def outcome(program: Program, args: Arguments, order: int | None = None) -> Arguments:
    """The arrays after a run."""
    own = copied(args)
    program.run(own, order_seed=order)
    return {k: v for k, v in own.items() if isinstance(v, np.ndarray)}


def assert_same(name: str, before: Arguments, after: Arguments, what: object) -> None:
    for k in before:
        assert np.array_equal(before[k], after[k], equal_nan=True), f"{name}: {k} after {what}"


class Reference:
    """A function and what it computes at a few sizes."""

    def __init__(self, name: str, fn: Function, inputs: list[Arguments]) -> None:
        self.name, self.runs = name, list[tuple[Arguments, Arguments]]()
        program = Program(fn)
        for args in inputs:
            self.runs.append((args, outcome(program, args)))

    def check(self, fn: Function, what: object) -> None:
        """`fn` computes the same, with foralls in order and in two others."""
        program = Program(fn)
        orders = (None, 1, 2) if any(s.loop.parallel for s in loops(fn)) else (None,)
        for args, expected in self.runs:
            for order in orders:
                try:
                    found = outcome(program, args, order)
                except InterpError as e:
                    pytest.fail(f"{self.name}: {e} after {what}\n{listing(fn)}")
                assert_same(self.name, expected, found, what)


# ---------------------------------------------------------------- random steps


def confirm(name: str, fn: Function, refused: Step, counts: Counter[str]) -> None:
    """The iterations a refusal names meet in the element it names, in that order."""
    for claim in claims(refused.check(fn)):
        if max(claim.sizes.values(), default=0) > 12:
            continue
        sizes = dict.fromkeys("GMNU", 0) | claim.sizes
        try:
            events = trace(fn, sizes)
        except TooLongError:
            continue
        assert claim.holds(events), f"{name}: {refused}: {claim}\n{listing(fn)}"
        counts["witness"] += 1


def apply(
    name: str,
    start: Derivation,
    reference: Reference,
    length: int,
    counts: Counter[str],
    chooser: type[Chooser] = Chooser,
) -> Derivation:
    """Tries random steps until `length` were accepted, checking each."""
    rng, done = random.Random(name), start
    for _ in range(8 * length):
        fn = done.function
        if not loops(fn) or len(loops(fn)) > 20 or len(done.records) >= len(start.records) + length:
            break
        chosen = chooser(rng).step(fn)
        before = listing(fn)
        assert step(str(chosen)) == chosen
        refused = bool(chosen.check(fn))
        counts[f"{'refused' if refused else 'accepted'} {chosen.verb}"] += 1
        if refused:
            with pytest.raises(TransformError):
                done.then(chosen)
            if not any(isinstance(s, Copy) for _, s in walk(fn.body)):
                confirm(name, fn, chosen, counts)
        else:
            done = done.then(chosen)
            if done.function != fn:
                reference.check(done.function, [str(r.step) for r in done.records])
        assert listing(fn) == before, f"{name}: {chosen} changed the program it was asked about"
    return done


def derive(name: str, text: str, counts: Counter[str], chooser: type[Chooser] = Chooser) -> None:
    """Random steps on a random nest; the accepted ones replay from JSON."""
    start = Derivation(with_tiles(lowered(text), TILES))
    inputs = [nest_arguments(start.function, m, n) for m, n in SIZES]
    reference = Reference(f"{name}\n{text}", start.function, inputs)
    done = apply(name, start, reference, 2 + number(name) % 5, counts, chooser)
    assert replay(start, done.to_json()["steps"]).function == done.function, name


def number(name: str) -> int:
    return int(name.removeprefix("seed "))


def sweep_nests(seed: int, count: int) -> Counter[str]:
    counts: Counter[str] = Counter()
    for name, text in nests(seed, count):
        derive(name, text, counts)
    return counts


def sweep_neighbours(seed: int, count: int) -> Counter[str]:
    """Loops beside each other, fused and split."""
    counts: Counter[str] = Counter()
    for name, text in neighbours(seed, count):
        derive(name, text, counts, FuseOrSplit)
    return counts


def sweep_imperfect(seed: int, count: int) -> Counter[str]:
    """Scalars sunk into inner loops, some of them foralls."""
    counts: Counter[str] = Counter()
    for name, text in imperfect(seed, count):
        derive(name, text, counts, SinkOrParallelise)
    return counts


# ---------------------------------------------------------------- tiling


RECIPES: tuple[Recipe, ...] = ("register", "block", "naive")


def prepared(name: str, program: Redomap) -> tuple[Function, Reference] | None:
    """The program and its results at random sizes, among them 0 and 1; None where a program that
    subscripts outside of its arrays came out."""
    fn, rng = lowered(program.text), random.Random(name)
    inputs = []
    for limit in (9, 9, 1):
        sizes = {p: rng.randint(0, limit) for p in "GMNU"}
        inputs.append(program.arguments(fn, sizes, number(name)))
    try:
        return fn, Reference(f"{name}\n{program.text}", fn, inputs)
    except InterpError:
        return None


def random_tiles(rng: random.Random) -> Tiles:
    return Tiles(*(rng.randint(1, 5) for _ in range(5)))


def sweep_tilings(seed: int, count: int) -> Counter[str]:
    """Every recipe of the recipe, at its end."""
    counts: Counter[str] = Counter()
    for name, program in redomaps(seed, count):
        made = prepared(name, program)
        if made is None:
            counts["unusable"] += 1
            continue
        for recipe in RECIPES:
            sizes = random_tiles(random.Random(f"{name} {recipe}"))
            tiled = tile(made[0], sizes, recipe)
            counts[f"{recipe}: {tiled.recipe}"] += 1
            made[1].check(tiled.function, f"{recipe} {sizes}")
    return counts


def sweep_detours(seed: int, count: int) -> Counter[str]:
    """Random steps from somewhere in the middle of a tiling: the order of a recipe is only one of
    many that a user may choose."""
    counts: Counter[str] = Counter()
    for name, program in redomaps(seed, count):
        made = prepared(name, program)
        if made is None:
            continue
        rng = random.Random(name)
        tiled = tile(made[0], random_tiles(rng), rng.choice(RECIPES))
        records = tiled.derivation.records
        cut = Derivation(tiled.derivation.start, records[: rng.randint(1, len(records))])
        apply(name, cut, made[1], 3, counts)
    return counts


# ---------------------------------------------------------------- the tests


def assert_reached(counts: Counter[str], nests: int) -> None:
    """Every accepted step was compared with the program before it: enough of them were, and enough
    were refused."""
    found = dict.fromkeys(("accepted", "refused"), 0)
    for name, n in counts.items():
        if (kind := name.split()[0]) in found:
            found[kind] += n
    assert min(found.values()) >= 2 * nests, counts


def assert_tiled(counts: Counter[str], programs: int) -> None:
    """Every recipe was run to its end, and compared, for enough programs."""
    assert min(counts[f"{v}: {v}"] for v in RECIPES) >= programs // 3, counts


@pytest.mark.parametrize("seed", [0])
def test_random_steps(seed: int) -> None:
    print(f"seeds {seed}00000 to {seed}00039")
    assert_reached(sweep_nests(seed, 40), 40)


@pytest.mark.parametrize("seed", [0])
def test_random_neighbours(seed: int) -> None:
    print(f"seeds {seed}00000 to {seed}00039")
    assert_reached(sweep_neighbours(seed, 40), 40)


@pytest.mark.parametrize("seed", [0])
def test_random_imperfect_nests(seed: int) -> None:
    print(f"seeds {seed}00000 to {seed}00039")
    counts = sweep_imperfect(seed, 40)
    assert counts["accepted rematerialise"] >= 10
    assert counts["refused rematerialise"] >= 10


@pytest.mark.parametrize("seed", [0])
def test_random_tilings(seed: int) -> None:
    print(f"seeds {seed}00000 to {seed}00014")
    assert_tiled(sweep_tilings(seed, 15), 15)


@pytest.mark.parametrize("seed", [0])
def test_steps_off_the_path_of_the_recipe(seed: int) -> None:
    print(f"seeds {seed}00000 to {seed}00019")
    assert_reached(sweep_detours(seed, 20), 20)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 103))
def test_many_random_steps(seed: int) -> None:
    assert_reached(sweep_nests(seed, 500), 500)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 102))
def test_many_random_neighbours(seed: int) -> None:
    assert_reached(sweep_neighbours(seed, 800), 800)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 102))
def test_many_random_imperfect_nests(seed: int) -> None:
    assert_reached(sweep_imperfect(seed, 400), 400)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 102))
def test_many_random_tilings(seed: int) -> None:
    assert_tiled(sweep_tilings(seed, 150), 150)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 102))
def test_many_steps_off_the_path_of_the_recipe(seed: int) -> None:
    assert_reached(sweep_detours(seed, 250), 250)


@pytest.mark.slow
def test_the_sweeps_reach_what_they_are_for() -> None:
    """Guards against sweeps that pass because nothing is ever accepted, or refused."""
    steps = sweep_nests(8, 100) + sweep_detours(8, 200)
    accepted = {k.removeprefix("accepted ") for k in steps if k.startswith("accepted")}
    refused = {k.removeprefix("refused ") for k in steps if k.startswith("refused")}
    assert accepted >= set(STEPS) - ELSEWHERE, set(STEPS) - accepted
    assert refused >= set(STEPS) - ELSEWHERE - {"sequentialise"}, set(STEPS) - refused
    assert steps["witness"] >= 100
    tilings = sweep_tilings(7, 15)
    assert min(tilings[f"{v}: {v}"] for v in RECIPES) >= 5, tilings
