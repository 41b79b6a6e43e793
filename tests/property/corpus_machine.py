"""The machine for files of the corpus: several sizes and data, no subscript outside its array."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product

from machine import Event, Machine, Place, carrier, kind, observed

from loopxform.ir.nodes import Decl, For, Function, Stmt
from loopxform.ir.typing import symbols
from loopxform.ir.visit import Path, walk

SIZES, DATA = 14, 6
"""How many choices there are of each; every combination is run."""


class OutsideError(Exception):
    """A subscript that leaves its array: the program does not mean anything for these numbers."""


@dataclass
class Run(Machine):
    """One run; integers in memory are places of small arrays, real numbers have both signs."""

    huge: int = 1 << 4000
    data: int = 0
    sizes: int = 0
    most: int = 1
    shapes: dict[str, tuple[int | None, ...]] = field(default_factory=dict)
    turns: dict[Path, int] = field(default_factory=dict)
    """The most iterations a loop had at once."""

    def initial(self, name: str, index: tuple[int, ...]) -> int:
        type = self.types.get(name)
        chosen = random.Random(f"{self.sizes} {self.data} {name} {index}")
        if type is None or not type.is_integer:
            return (7, -7, 0, sum(index), *[chosen.randint(-5, 9)] * 2)[self.data]
        match self.data % 3:
            case 0:
                return index[-1] if index else 0
            case 1:
                return 0
            case _:
                return chosen.randrange(self.most)

    def touch(self, path: Path, name: str, index: tuple[int, ...], write: bool) -> Place:
        for x, extent in zip(index, self.shapes.get(name, ()), strict=False):
            if x < 0 or (extent is not None and x >= extent):
                raise OutsideError(name, index)
        return super().touch(path, name, index, write)

    def stmt(self, s: Stmt, path: Path) -> None:
        if isinstance(s, Decl):
            self.shapes[s.name] = tuple(self.value(x, path) for x in s.shape)
        super().stmt(s, path)

    def loop(self, s: For, path: Path) -> None:
        before = self.order.get(path, lambda x: x)

        def count(values: list[int]) -> list[int]:
            self.turns[path] = max(self.turns.get(path, 0), len(values))
            return before(values)

        self.order[path] = count
        super().loop(s, path)
        self.order[path] = before


def start(fn: Function, size: int, data: int, **how: object) -> Run:
    """A machine that is ready to run `fn`; OutsideError where the sizes are none it is for."""
    chosen = random.Random(f"{size} {fn.name}")
    types = symbols(fn)
    written = {name for p in fn.objects for name in [p.name] if _is_written(fn, name)}
    scalars = [p for p in fn.objects if not p.shape and not p.array and p.type.is_integer]
    top = 6 if size else 24 // max(1, _depth(fn))
    likely = [0, 0, top - 1, *range(top + 1)] if size else range(top - 3, top)
    names = [p.name for p in scalars if p.name not in written]
    sizes = {name: chosen.choice(likely) for name in names}
    if 0 < size <= len(names):
        sizes = {name: 0 if n == size else top for n, name in enumerate(names, 1)}
    most = max(1, min(sizes.values(), default=4))
    unsigned = any(t.is_unsigned for t in types.values())
    run = Run({}, sizes, types=types, unsigned=unsigned, most=most, **how)  # type: ignore[arg-type]
    run.sizes, run.data = size, data
    if not all(run.value(e, ()) for e in fn.assumes):
        raise OutsideError
    for p in fn.objects:
        run.shapes[p.name] = tuple(None if x is None else run.value(x, ()) for x in p.shape)
    run.events.clear()
    return run


def _depth(fn: Function) -> int:
    """The most loops around each other."""
    loops = [path for path, s in walk(fn.body) if isinstance(s, For)]
    return max((sum(p[: len(q)] == q for q in loops) for p in loops), default=0)


def _is_written(fn: Function, name: str) -> bool:
    return any(getattr(getattr(s, "target", None), "name", "") == name for _, s in walk(fn.body))


def runs(fn: Function, **how: object) -> Iterator[Run]:
    """All runs of `fn` that mean something."""
    for size, data in product(range(SIZES), range(DATA)):
        try:
            run = start(fn, size, data, **how)
            run.body(fn.body, ())
        except (OutsideError, OverflowError):
            continue
        yield run


Collision = tuple[str, str, int]
"""Kind, name, how many iterations lie between."""


def collisions(run: Run) -> dict[Path, set[Collision]]:
    """What each loop carried in a run."""
    found: dict[Path, set[Collision]] = {}
    for first, second in observed(run.events):
        at = carrier(first, second)
        if at is not None:
            gap = _gap(first, second, at)
            found.setdefault(at, set()).add((kind(first, second), first.name, gap))
    return found


def _gap(first: Event, second: Event, at: Path) -> int:
    one, other = (next(x for x in e.iteration if x[0] == at) for e in (first, second))
    return (other[1] - one[1]) // one[2]
