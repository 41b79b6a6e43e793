"""Random loops over time: what `time-tile` makes of them computes the same, to the last bit.

The loop tree runs in the interpreter, with foralls in text order and shuffled; the kernels in the
executor of groups, which reports races, unset values and accesses out of bounds, and on a device.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from kernel_steps import copied
from random_stencils import stencil, stencil_arguments

import loopxform as lx
from loopxform.codegen import emit
from loopxform.errors import EmitError, LoopxformError, TransformError
from loopxform.floating_point import SEPARATE
from loopxform.frontend import parse_file
from loopxform.ir.nodes import Function
from loopxform.offload.program import offload
from loopxform.schedule.params import Options
from loopxform.transforms import Derivation, TimeBoxes, TimeTile
from loopxform.verify.group.execute import Executor
from loopxform.verify.interp import InterpError, Program

Arguments = dict[str, Any]

UNKNOWN = ("how much of ", "where the part of ")
"""How the refusals of plain pointers begin of which no formula says how much is touched."""


@dataclass(frozen=True)
class Case:
    name: str
    text: str
    fn: Function
    rng: random.Random

    @classmethod
    def of(cls, seed: int, *, reachable: bool = False) -> Case:
        """In a `reachable` one no array is static, as kernels in a file of their own need it."""
        name = f"stencil {seed}"
        rng = random.Random(name)
        text = stencil(rng)
        text = text.replace("static ", "") if reachable else text
        return cls(name, text, parse_file("f.c", text=text).unit.functions[0], rng)

    @property
    def rank(self) -> int:
        return 3 if "int l" in self.text else 2

    def tile(self) -> tuple[int, ...]:
        """Steps, rows and work-items, drawn."""
        widths = (8, 16, 24) if self.rank == 3 else (8, 16, 32, 48)
        items = [self.rng.choice(widths) for _ in range(self.rank - 1)]
        return (self.rng.choice((1, 2, 2, 3, 4)), self.rng.choice((1, 2, 5, 8)), *items)

    def tiled(self) -> tuple[Derivation, tuple[int, ...]] | None:
        """By the first of some tiles that is accepted."""
        for _ in range(3):
            tile = self.tile()
            steps, rows, *items = map(str, tile)
            words = {
                "groups": self.rng.choice(("", "3")),
                "in_step": self.rng.choice(("", "in-step")),
            }
            step = TimeTile("t", (steps,), rows, tuple(items), **words)
            try:
                return Derivation(self.fn).then(step), tile
            except TransformError:
                continue
        return None

    def in_boxes(self) -> tuple[Derivation, tuple[int, ...]] | None:
        """By boxes of some sizes, if they are accepted."""
        steps, items = self.rng.choice((1, 2, 3, 6)), self.rng.choice((1, 1, 4))
        sizes = tuple(self.rng.choice((1, 3, 4, 7)) for _ in range(self.rank))
        step = TimeBoxes("t", (str(steps),), tuple(map(str, sizes)), str(items))
        try:
            return Derivation(self.fn).then(step), (steps, *sizes, items)
        except TransformError:
            return None

    def runs(self, steps: int, shapes: tuple[tuple[int, int], ...]) -> Iterator[Arguments]:
        """Arguments that the program runs with, at these numbers of steps and rows."""
        for time, n in shapes:
            sizes = {"T": time, "n": n, "m": self.rng.choice((1, 2, 5, 9, 13))}
            if self.rank == 3:
                sizes |= {"m": min(sizes["m"], 6), "l": self.rng.choice((1, 4, 6))}
            yield stencil_arguments(self.text, sizes, steps)

    def expected(self, args: Arguments) -> Arguments | None:
        """What the program does; None where it reads outside of an array."""
        own = copied(args)
        try:
            Program(self.fn).run(own)
        except InterpError:
            return None
        return own

    def assert_same(self, wanted: Arguments, found: Arguments, what: object) -> None:
        for name, values in wanted.items():
            same = np.array_equal(values, found[name], equal_nan=True)
            assert same, f"{self.name}, {what}: {name} differs\n{self.text}"


def shapes_for(steps: int) -> tuple[tuple[int, int], ...]:
    return (0, 3), (2 * steps - 1, 5), (2 * steps, 7), (4 * steps + 1, 11), (5 * steps, 1)


def check(seed: int, counts: Counter[str], *, boxed: bool = False) -> None:
    case = Case.of(seed)
    tiled = case.in_boxes() if boxed else case.tiled()
    counts["programs"] += 1
    if tiled is None:
        return
    derivation, tile = tiled
    counts[f"accepted, {case.rank} dimensions"] += 1
    program = Program(derivation.function)
    for args in case.runs(tile[0], shapes_for(tile[0])):
        wanted = case.expected(args)
        for order in (None, seed) if wanted else ():
            found = copied(args)
            try:
                program.run(found, order_seed=order)
            except InterpError as e:
                raise AssertionError(f"{case.name}, {tile}: {e}\n{case.text}") from e
            case.assert_same(wanted or {}, found, tile)
            counts["runs"] += 1


def check_kernels(seed: int, counts: Counter[str]) -> None:
    """The kernels of the program in the executor."""
    case = Case.of(seed, reachable=True)
    tile = case.tile()
    done = offload(case.fn, {}, options=Options(time_tile=tile))
    if not any(p.about for p in done.parts):
        return
    try:
        executor = Executor(emit.kernel(done.derivation, fp=SEPARATE))
    except EmitError as e:
        if not e.message.startswith(UNKNOWN):
            raise
        return
    for args in case.runs(tile[0], ((2 * tile[0], 6), (2 * tile[0] + 1, 3))):
        if wanted := case.expected(args):
            found = copied(args)
            try:
                executor.run(found, seed=seed)
            except LoopxformError as e:
                raise AssertionError(f"{case.name}: {e}\n{case.text}") from e
            case.assert_same(wanted, found, "executor")
            counts["runs"] += 1


def check_on_device(seed: int, counts: Counter[str]) -> None:
    """What `offload` makes of the program, on the device."""
    case = Case.of(seed, reachable=True)
    tile = case.tile()
    routine = lx.loads(case.text)["f"]
    done = routine.offload(time_tile=tile, fp="strict")
    counts["programs"] += 1
    if not any(p.about for p in done.parts):
        return
    try:
        call = done.compile()
    except EmitError as e:
        if not e.message.startswith(UNKNOWN):
            raise
        return
    for args in case.runs(tile[0], shapes_for(tile[0])):
        if wanted := case.expected(args):
            found = copied(args)
            call(**found)
            case.assert_same(wanted, found, tile)
            counts["runs"] += 1


@pytest.mark.parametrize("share", range(2))
def test_random_stencils(share: int) -> None:
    counts = Counter[str]()
    stencils = 12 if share else 4
    for n in range(stencils):
        check(share * 1000 + n, counts)
    assert counts["runs"] >= 4 * stencils, counts
    assert counts["accepted, 2 dimensions"] >= stencils // 3, counts
    assert counts["accepted, 3 dimensions"] >= stencils // 12, counts


def test_random_stencils_in_boxes() -> None:
    counts = Counter[str]()
    for n in range(5):
        check(9000 + n, counts, boxed=True)
    assert counts["runs"] >= 12, counts


def test_kernels_of_random_stencils() -> None:
    counts = Counter[str]()
    for n in range(2):
        check_kernels(5000 + n, counts)
    assert counts["runs"], counts


@pytest.mark.device
def test_random_stencils_on_a_device() -> None:
    counts = Counter[str]()
    for n in range(2):
        check_on_device(7000 + n, counts)
    assert counts["runs"] >= 2, counts


@pytest.mark.slow
@pytest.mark.parametrize("share", range(10, 13))
def test_many_random_stencils(share: int) -> None:
    counts = Counter[str]()
    for n in range(30):
        check(share * 1000 + n, counts)
        check(share * 1000 + n, counts, boxed=True)
        if n % 3 == 0:
            check_kernels(share * 1000 + n, counts)
    assert counts["runs"] >= 100, counts


@pytest.mark.slow
@pytest.mark.device
@pytest.mark.parametrize("share", range(30, 32))
def test_many_random_stencils_on_a_device(share: int) -> None:
    counts = Counter[str]()
    for n in range(15):
        check_on_device(share * 1000 + n, counts)
    assert counts["runs"] >= 15, counts
