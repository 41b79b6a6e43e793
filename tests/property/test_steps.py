"""Random programs, random steps: what a step accepts means the same, what it refuses collides.

Every failure names its seed; `random_nests.py` turns it back into the program. Programs run in the
interpreter, which rejects out-of-bounds accesses and elements that were never set, with foralls in
text order and shuffled.
"""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import kernel_steps
import numpy as np
import pytest
import restructured
from deriving import every_step
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
from random_steps import Chooser, FuseOrSplit, SinkOrParallelise
from tilings import Recipe, Tiles, tile
from tracing import TooLongError, claims, trace

from loopxform.errors import EmitError, LoopxformError, TransformError
from loopxform.ir.evaluate import evaluate
from loopxform.ir.nodes import Copy, Function
from loopxform.ir.printer import listing
from loopxform.ir.visit import loops, walk
from loopxform.prepare.while_loops import whole_loops
from loopxform.transforms import (
    STEPS,
    Derivation,
    Dispatch,
    Step,
    replay,
    step,
    with_tiles,
)
from loopxform.verify.interp import InterpError, Program

Arguments = dict[str, Any]
TILES = {"T": 2, "S": 3}
SWEPT_ELSEWHERE = {
    *("fuse-stages", "tile-stages", "time-tile", "time-boxes", "atomic-updates"),
    *("atomic-stores", "last-stores"),
    "privatise-updates",
    *("carry", "reduce-then-scan", "chain-chunks", "look-back", "stage-stores", "reuse-storage"),
    *("buffer-slice", "name-terms", "stage-filled", "stage-terms"),
    *("if-convert", "forward-substitute", "merge-copy", "peel", "branch-choice"),
    *("buffer-box", "widen-updates", "turn-accesses", "reorder", "online-softmax"),
    *("row-sums", "defer-update", "rows-apart", "stripe", "track-extremum", "uncoalesce"),
    *(
        "recompute",
        "reorder-nests",
        "online-sum",
        "name-condition",
        "tensorise",
        "vector-accumulators",
        "signed-counters",
    ),
    *("join-kernels", "node-split", "turn-tile", "split-floats", "unfold-windows"),
    *("speculate", "gather-quotients", "simd", "narrow-functions"),
}
"""In the sweeps of random pipelines, pyramids, stencils, updates, scatters, scans, choices, slices,
groups, rows, attention, tables, places and flat loops; the last eleven in tables of listings
alone."""


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


def assumed(fn: Function, args: Arguments) -> bool:
    numbers = {k: v for k, v in args.items() if not isinstance(v, np.ndarray)}
    return all(evaluate(e, numbers) for e in fn.assumes)


class Reference:
    """A function and what it computes at a few sizes."""

    def __init__(self, name: str, fn: Function, inputs: list[Arguments]) -> None:
        self.name, self.runs = name, list[tuple[Arguments, Arguments]]()
        program = Program(fn)
        for args in inputs:
            self.runs.append((args, outcome(program, args)))

    def check(self, fn: Function, what: object) -> None:
        """`fn` computes the same for what it assumes, with foralls in order and in two others."""
        program = Program(fn)
        orders = (None, 1, 2) if any(s.loop.parallel for s in loops(fn)) else (None,)
        for args, expected in self.runs:
            if not assumed(fn, args):
                continue
            for order in orders:
                try:
                    found = outcome(program, args, order)
                except InterpError as e:
                    pytest.fail(f"{self.name}: {e} after {what}\n{listing(fn)}")
                assert_same(self.name, expected, found, what)


# ---------------------------------------------------------------- random steps


class Restructure(Chooser):
    """What restructures loops and statements of functions that are made for it."""

    def step(self, fn: Function) -> Step:
        return restructured.step(fn, self.rng)


class Mark(Chooser):
    """What leaves marks in a mapped program, which its kernels heed."""

    def step(self, fn: Function) -> Step:
        return kernel_steps.Marks(fn, self.rng).step()


class CopyOperands(Chooser):
    def step(self, fn: Function) -> Step:
        return kernel_steps.Copies(fn, self.rng).step()


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
        assert isinstance(chosen, Dispatch) or step(str(chosen)) == chosen
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


def sweep_restructured(seed: int, count: int) -> Counter[str]:
    counts: Counter[str] = Counter()
    for name, text in restructured.functions(seed, count):
        start = Derivation(whole_loops(lowered(text)))
        reference = Reference(f"{name}\n{text}", start.function, restructured.inputs(number(name)))
        done = apply(name, start, reference, 3, counts, Restructure)
        assert replay(start, done.to_json()["steps"]).function == done.function, name
    return counts


# ---------------------------------------------------------------- kernels


def sweep_kernels(seed: int, count: int) -> Counter[str]:
    """Recipes with random wishes, and random steps after them: the tree means the same, and so do
    the kernels."""
    counts: Counter[str] = Counter()
    for case in kernel_steps.cases(seed, count):
        results = kernel_steps.expected(case)
        pairs = [(a, r) for a, r in zip(case.runs, results) if r is not None]
        if not pairs:
            continue
        reference = Reference(f"{case.name}\n{case.text}", case.fn, [a for a, _ in pairs])
        rng = random.Random(case.name)
        start = Derivation(case.fn)
        try:
            if rng.random() < 0.15:
                apply(case.name, start, reference, 5, counts, CopyOperands)
            start = kernel_steps.derived(case, rng)
        except LoopxformError as e:
            counts[f"untiled {e.code}"] += 1
            continue
        for s in every_step(start):
            counts[f"accepted {s.verb}"] += 1
        done = apply(case.name, start, reference, rng.choice([1, 3, 5]), counts, Mark)
        try:
            counts["kernels"] += kernel_steps.executed(case, done, results)
        except EmitError:
            counts["not kernels"] += 1
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
    print(f"seeds {seed}00000 to {seed}00019")
    assert_reached(sweep_nests(seed, 20), 20)


@pytest.mark.parametrize("seed", [0])
def test_random_neighbours(seed: int) -> None:
    print(f"seeds {seed}00000 to {seed}00015")
    assert_reached(sweep_neighbours(seed, 16), 16)


@pytest.mark.parametrize("seed", [0])
def test_random_imperfect_nests(seed: int) -> None:
    print(f"seeds {seed}00000 to {seed}00015")
    counts = sweep_imperfect(seed, 16)
    assert counts["accepted rematerialise"] >= 4
    assert counts["refused rematerialise"] >= 4


@pytest.mark.parametrize("seed", [0])
def test_random_tilings(seed: int) -> None:
    print(f"seeds {seed}00000 to {seed}00008")
    assert_tiled(sweep_tilings(seed, 9), 9)


@pytest.mark.parametrize("seed", [0])
def test_steps_off_the_path_of_the_recipe(seed: int) -> None:
    print(f"seeds {seed}00000 to {seed}00009")
    assert_reached(sweep_detours(seed, 10), 10)


@pytest.mark.parametrize("seed", [0])
def test_random_restructurings(seed: int) -> None:
    print(f"seeds {seed}00000 to {seed}00039")
    counts = sweep_restructured(seed, 40)
    assert_reached(counts, 40)
    accepted = {k.removeprefix("accepted ") for k in counts if k.startswith("accepted")}
    assert accepted >= {"bounding-box", "copy-parameter", "distribute-guard"}
    assert accepted >= {"final-value", "rename", "specialise", "assume"}, accepted


@pytest.mark.parametrize("seed", [0])
def test_random_kernels(seed: int) -> None:
    """Their text, run by the group executor."""
    print(f"seeds {seed}00000 to {seed}00003")
    counts = sweep_kernels(seed, 4)
    assert counts["kernels"] >= 12, counts


@pytest.mark.slow
@pytest.mark.parametrize("seed", [100])
def test_many_random_steps(seed: int) -> None:
    assert_reached(sweep_nests(seed, 200), 200)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [100])
def test_many_random_neighbours(seed: int) -> None:
    assert_reached(sweep_neighbours(seed, 150), 150)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [100])
def test_many_random_imperfect_nests(seed: int) -> None:
    assert_reached(sweep_imperfect(seed, 150), 150)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [100])
def test_many_random_tilings(seed: int) -> None:
    assert_tiled(sweep_tilings(seed, 60), 60)


@pytest.mark.slow
def test_the_sweeps_reach_what_they_are_for() -> None:
    """Guards against sweeps that pass because nothing is ever accepted, or refused."""
    detours, restructured = sweep_detours(8, 200), sweep_restructured(15, 500)
    assert_reached(detours, 200)
    assert_reached(restructured, 500)
    kernels = sweep_kernels(8, 100)
    assert kernels["kernels"] >= 300, kernels
    steps = sweep_nests(8, 300) + detours
    assert steps["witness"] >= 100
    steps += restructured + kernels
    accepted = {k.removeprefix("accepted ") for k in steps if k.startswith("accepted")}
    refused = {k.removeprefix("refused ") for k in steps if k.startswith("refused")}
    steps_of_nests = set(STEPS) - SWEPT_ELSEWHERE
    assert accepted >= steps_of_nests, steps_of_nests - accepted
    # Any loop that there is may run in order.
    assert refused >= steps_of_nests - {"sequentialise"}, steps_of_nests - refused
    tilings = sweep_tilings(7, 15)
    assert min(tilings[f"{v}: {v}"] for v in RECIPES) >= 5, tilings
