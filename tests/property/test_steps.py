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
    lowered,
    nest_arguments,
    nests,
    redomaps,
)
from tracing import TooLongError, claims, trace

from loopxform.errors import TransformError, UnsupportedC
from loopxform.ir.nodes import Decl, Function
from loopxform.ir.printer import listing
from loopxform.ir.visit import loops, walk
from loopxform.recipes.tile import Tiled, Tiles, Variant, tile
from loopxform.transforms import (
    CopyToLocal,
    CopyToPrivate,
    Derivation,
    Distribute,
    Epilogue,
    Expand,
    Interchange,
    MapTo,
    Normalise,
    Parallelise,
    Privatise,
    Scalarise,
    Sequentialise,
    Step,
    Stripmine,
    Unguard,
    Unroll,
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
        for args, expected in self.runs:
            for order in (None, 1, 2):
                try:
                    found = outcome(program, args, order)
                except InterpError as e:
                    pytest.fail(f"{self.name}: {e} after {what}\n{listing(fn)}")
                assert_same(self.name, expected, found, what)


# ---------------------------------------------------------------- random steps


class Chooser:
    """Steps that may or may not apply to a function, with parameters taken from it."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng

    def step(self, fn: Function) -> Step:
        rng = self.rng
        makers = [
            lambda: Parallelise(self.loop(fn)),
            lambda: Parallelise(self.loop(fn)),
            lambda: Privatise(self.scalar(fn), self.loop(fn)),
            lambda: Scalarise(rng.choice("AaBb"), self.loop(fn)),
            lambda: Stripmine(self.loop(fn), rng.choice(["T", "S", "3", "T*S"])),
            lambda: self.interchange(fn),
            lambda: self.interchange(fn),
            lambda: Expand(self.scalar(fn), self.chain(fn)),
            lambda: Distribute(self.chain(fn)),
            lambda: Sequentialise(self.loop(fn)),
            lambda: Normalise(self.loop(fn), rng.choice(["body", "innermost"])),
            lambda: Unroll(self.loop(fn), rng.choice(["", "full", "2", "3"])),
            lambda: MapTo(self.loop(fn), rng.choice(["group.x", "group.y", "thread.x"])),
            lambda: CopyToLocal(rng.choice("AaBb"), self.loop(fn)),
            lambda: CopyToPrivate(rng.choice(["A_loc", "a_loc", "B_loc"]), self.loop(fn)),
            lambda: Epilogue(self.loop(fn)),
            lambda: Unguard((self.scalar(fn),)),
        ]
        return rng.choice(makers)()

    def loop(self, fn: Function) -> str:
        """`i`, or `i#2` where several loops run over i."""
        site = self.rng.choice(loops(fn))
        same = [s.path for s in loops(fn) if s.loop.var == site.loop.var]
        if len(same) == 1 or self.rng.random() < 0.05:
            return site.loop.var
        number = same.index(site.path) + 1
        return f"{site.loop.var}{self.rng.choice(['*', f'#{number}', f'#{number}'])}"

    def chain(self, fn: Function) -> tuple[str, ...]:
        """A loop, or it and one around it."""
        site = self.rng.choice(loops(fn))
        around = [s.loop.var for s in loops(fn) if s.path == site.path[: len(s.path)]]
        return tuple(around[-self.rng.choice([1, 1, 2]) :])

    def scalar(self, fn: Function) -> str:
        return self.rng.choice([s.name for _, s in walk(fn.body) if isinstance(s, Decl)] or ["t"])

    def interchange(self, fn: Function) -> Step:
        site = self.rng.choice(loops(fn))
        inner = [s for s in loops(fn) if s.path == (*site.path, 0)]
        return Interchange(site.loop.var, inner[0].loop.var if inner else "j")


def confirm(name: str, fn: Function, refused: Step, counts: Counter[str]) -> None:
    """The iterations a refusal names meet in the element it names, in that order."""
    for claim in claims(refused.check(fn)):
        if max(claim.sizes.values(), default=0) > 12:
            continue
        sizes = {"M": 0, "N": 0} | claim.sizes
        try:
            events = trace(fn, sizes)
        except TooLongError:
            continue
        assert claim.holds(events), f"{name}: {refused}: {claim}\n{listing(fn)}"
        counts["witness"] += 1


def derive(name: str, text: str, length: int, counts: Counter[str]) -> None:
    """Applies random steps to a random nest until `length` were accepted."""
    rng = random.Random(name)
    start = Derivation(with_tiles(lowered(text), TILES))
    try:
        reference = Reference(
            name, start.function, [nest_arguments(start.function, m, n) for m, n in SIZES]
        )
    except InterpError:
        counts["unusable"] += 1
        return
    derivation, staged = start, False
    for _ in range(8 * length):
        fn = derivation.function
        chosen = Chooser(rng).step(fn)
        before = listing(fn)
        try:
            derivation = derivation.then(chosen)
        except TransformError as e:
            counts[f"refused {chosen.verb}"] += 1
            assert e.obstacles == chosen.check(fn), "check is a function of the program"
            assert derivation.function is fn
            assert listing(fn) == before
            if not staged:
                confirm(name, fn, chosen, counts)
            continue
        counts[f"accepted {chosen.verb}"] += 1
        assert step(str(chosen)) == chosen
        staged |= isinstance(chosen, CopyToLocal)
        done = [str(r.step) for r in derivation.records]
        if derivation.function != fn:
            reference.check(derivation.function, f"{done}\n{text}")
        if len(derivation.records) >= length or len(loops(derivation.function)) > 20:
            break
    if derivation.records:
        again = replay(start, derivation.to_json()["steps"])
        assert again.function == derivation.function, name


def sweep(seed: int, count: int) -> Counter[str]:
    counts: Counter[str] = Counter()
    for name, text in nests(seed, count):
        derive(name, text, 2 + hash_of(name) % 5, counts)
    return counts


def hash_of(name: str) -> int:
    return int(name.removeprefix("seed "))


@pytest.mark.parametrize("seed", range(4))
def test_random_steps(seed: int) -> None:
    print(f"seeds {seed * 100_000} to {seed * 100_000 + 60}")
    sweep(seed, 60)
