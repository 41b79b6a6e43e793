"""Random loops over time, many of them no stencils in time: what steps and `offload` make of them
does what C does, to the last bit, or they are left as they are.

C is the judge: the program as written, with arguments that overlap where it may be called so.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from random_time_loops import Hostile, hostile

import loopxform as lx
from loopxform.codegen import emit
from loopxform.errors import ArgumentError, EmitError, LoopxformError
from loopxform.frontend import parse_file
from loopxform.ir.nodes import Function
from loopxform.ir.visit import loops, resolve
from loopxform.offload.program import offload
from loopxform.offload.program_state import Part
from loopxform.offload.time_tiles import counting_up, signed
from loopxform.recipes.deriving import Work
from loopxform.schedule.params import Options
from loopxform.transforms import Derivation, TimeBoxes
from loopxform.verify.cref import CSource, Library
from loopxform.verify.interp import Program

Arguments = dict[str, Any]

STEPS = (("1",), ("2",), ("2", "1"), ("4", "2"), ("3", "1"), ("6",))
SIZES = ((0, 1, 2), (1, 0, 3), (3, 5, 1), (7, 4, 2), (11, 9, 3), (2, 13, 5))
TIMES = (0, 1, 2, 5, 8, 13)


@dataclass(frozen=True, eq=False)
class Case:
    seed: int
    loop: Hostile
    fn: Function
    rng: random.Random

    @classmethod
    def of(cls, seed: int, extras: int | None = None) -> Case | None:
        """None where C that is not modelled is refused."""
        loop = hostile(seed, f"_{seed}", extras)
        try:
            functions = parse_file("f.c", text=loop.text).unit.functions
        except LoopxformError:
            return None
        fn = next(f for f in functions if f.name == loop.name)
        return cls(seed, loop, fn, random.Random(f"case {seed}"))

    @property
    def called(self) -> Function:
        """As C calls it, which knows nothing of pointers inside."""
        return replace(self.fn, globals=tuple(p for p in self.fn.globals if not p.local))

    def in_boxes(self) -> Derivation | None:
        """With the first loop that may be one over time in small boxes."""
        w, rank = Work(Derivation(self.fn), {}), len(self.loop.sizes)
        for var in dict.fromkeys(s.loop.var for s in loops(self.fn) if s.loop.var[0] in "ot"):
            before, sites = w.derivation, resolve(w.fn, var)
            if len(sites) == 1:
                signed(w, counting_up(w, sites[0]))
                sizes = tuple(str(self.rng.choice((1, 2, 3, 5, 8))) for _ in range(rank))
                items = self.rng.choice(("1", "1", "1", "3"))
                if w.attempt(TimeBoxes(var, self.rng.choice(STEPS), sizes, items)):
                    return w.derivation
                w.derivation = before
        return None

    def tile(self) -> tuple[int, ...]:
        items = [self.rng.choice((8, 16, 24)) for _ in self.loop.sizes[1:] or "n"]
        return (self.rng.choice((1, 2, 2, 3)), self.rng.choice((1, 2, 5, 8)), *items)

    def arguments(
        self, *, overlapping: bool, times: tuple[int, ...] = TIMES
    ) -> Iterator[Arguments]:
        """Those of some runs."""
        overlapping = overlapping and "restrict" not in self.loop.text
        alike = [n for n, (kind, _) in self.loop.arrays.items() if kind == self.loop.arrays["A"][0]]
        for time in times:
            for sizes in self.rng.sample(SIZES, 3):
                alias = ""
                if overlapping and self.rng.random() < 0.5:
                    a, b = self.rng.sample(alike, 2)
                    alias = f"{a} {b} {self.rng.choice((0, 1, 3, 7))}"
                named = {"T": time, **dict(zip(self.loop.sizes, sizes))}
                yield self.loop.arguments(named, time, alias)

    def assert_same(self, wanted: Arguments, found: Arguments, what: object) -> None:
        for name, values in wanted.items():
            same = np.array_equal(
                values, found[name], equal_nan=np.asarray(values).dtype.kind == "f"
            )
            sizes = {n: v for n, v in wanted.items() if np.ndim(v) == 0}
            assert same, f"{self.seed}, {what}: {name} differs at {sizes}\n{self.loop.text}"


def copied(args: Arguments) -> Arguments:
    """Copies that overlap as these do."""
    roots: dict[int, np.ndarray[Any, Any]] = {}
    own: Arguments = {}
    for name, v in args.items():
        if not isinstance(v, np.ndarray) or v.base is None:
            own[name] = v.copy() if isinstance(v, np.ndarray) else v
            continue
        root = v.base
        whole = roots.setdefault(id(root), root.copy())
        first = (v.ctypes.data - root.ctypes.data) // v.itemsize
        own[name] = whole[first : first + v.size].reshape(v.shape)
    return own


def library(texts: list[str], cases: list[Case], *flags: str) -> Library:
    return Library(CSource(text="\n".join(texts), flags=("-O1", *flags)), [c.called for c in cases])


def check_tiled_c(seeds: range, counts: Counter[str], extras: int | None = None) -> None:
    """The loops in boxes, as C with threads."""
    texts: dict[Case, str] = {}
    for case in filter(None, (Case.of(seed, extras) for seed in seeds)):
        derivation = case.in_boxes()
        counts["programs"] += 1
        if derivation is None:
            continue
        try:
            files = emit.openmp(derivation, stem="f", origin="f.c", version="").files
        except EmitError:
            continue
        texts[case] = re.sub(r"\b(lx_\w+)", rf"\1_{case.seed}", files["f_openmp.c"])
    cases = [*texts]
    plain = library([c.loop.text for c in cases], cases)
    tiled = library([*texts.values()], cases, "-fopenmp")
    for case in cases:
        counts["accepted"] += 1
        for args in case.arguments(overlapping=True):
            wanted, found = copied(args), copied(args)
            plain.run(case.loop.name, wanted)
            tiled.run(case.loop.name, found)
            case.assert_same(wanted, found, "tiled C")
            counts["runs"] += 1


def is_tiled(parts: Iterable[Part]) -> bool:
    return any("steps of time a pass" in p.about for p in parts)


def check_program(seed: int, counts: Counter[str], extras: int | None = None) -> None:
    """What `offload` makes of it, in the interpreter, foralls shuffled."""
    case = Case.of(seed, extras)
    if case is None:
        return
    counts["programs"] += 1
    try:
        done = offload(case.fn, {}, options=Options(time_tile=case.tile()))
    except LoopxformError:
        return
    if not is_tiled(done.parts):
        return
    counts["accepted"] += 1
    plain, program = library([case.loop.text], [case]), Program(done.derivation.function)
    for args in case.arguments(overlapping=False, times=(1, 5, 8)):
        wanted, found = copied(args), copied(args)
        plain.run(case.loop.name, wanted)
        program.run(found, order_seed=seed)
        case.assert_same(wanted, found, "program")
        counts["runs"] += 1


def check_on_device(seed: int, counts: Counter[str]) -> None:
    """What `offload` makes of it, on a device; arguments that overlap are refused."""
    case = Case.of(seed)
    counts["programs"] += 1
    if case is None:
        return
    try:
        done = lx.loads(case.loop.text)[case.loop.name].offload(time_tile=case.tile(), fp="strict")
        if not any("steps of time a pass" in p.about for p in done.parts):
            return
        call = done.compile()
    except LoopxformError:
        return
    plain = library([case.loop.text], [case])
    for args in case.arguments(overlapping=True):
        wanted, found = copied(args), copied(args)
        plain.run(case.loop.name, wanted)
        try:
            call(**found)
        except ArgumentError:  # they overlap, or a size is none that was assumed
            continue
        case.assert_same(wanted, found, "device")
        counts["runs"] += 1


def test_random_time_loops_as_tiled_c() -> None:
    counts = Counter[str]()
    check_tiled_c(range(12), counts, extras=0)
    assert counts["accepted"] >= 3, counts


def test_programs_of_random_time_loops() -> None:
    """Among them one whose nests read a scalar that the loop sets from data."""
    counts = Counter[str]()
    for seed, extras in ((72, 1), (46, 2), (3, 0)):
        check_program(seed, counts, extras)
    assert counts["programs"] == 3, counts
    assert counts["accepted"], counts


@pytest.mark.slow
@pytest.mark.parametrize(("first", "extras"), [(10_000, 0), (20_000, 1)])
def test_many_random_time_loops(first: int, extras: int) -> None:
    counts = Counter[str]()
    check_tiled_c(range(first, first + 50), counts, extras)
    for seed in range(first, first + 8):
        check_program(seed, counts, extras)
    assert counts["accepted"] >= 2, counts


@pytest.mark.slow
@pytest.mark.device
def test_random_time_loops_on_a_device() -> None:
    counts = Counter[str]()
    for seed in range(2000, 2020):
        check_on_device(seed, counts)
    assert counts["runs"] >= 4, counts
