"""Who copies what in a collective copy.

The elements of the tile are numbered along the fastest dimension of the source in global memory,
and work-item n copies elements n, n + group, n + 2*group, ...: neighbours touch neighbouring
addresses whatever the layout of the operand, and any group shape serves any tile. (Seed 000,
section 4.3.)
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Mapping as Map
from dataclasses import dataclass, replace
from typing import ClassVar

from loopxform.codegen import cexpr
from loopxform.codegen.dialect import KernelDialect
from loopxform.ir.affine import simplify, value_of
from loopxform.ir.nodes import Assign, Bin, Const, Copy, Expr, Load, Select, Var
from loopxform.ir.printer import slice_text
from loopxform.ir.types import INT, UINT
from loopxform.transforms.bounds import conjunction

LOAD = "LX_VECTOR"
"""Reads a vector of global memory (templates/kernels.cl.j2)."""


@dataclass(frozen=True)
class OwnNames:
    """The names a kernel adds to the user's. `next` are the registers that keep, for each tile,
    what a work-item fetched ahead."""

    local_x: str
    local_y: str
    local_z: str
    item: str
    r: str
    at: str
    c0: str
    c1: str
    c2: str
    c3: str
    v: str
    stage: str
    number: str
    first: str
    rows: str
    next: Map[str, str]

    WANTED: ClassVar[tuple[str, ...]] = (
        *("local_x", "local_y", "local_z"),
        *("item", "r", "at", "c0", "c1", "c2", "c3", "v", "stage", "number", "first", "rows"),
    )

    @property
    def local_ids(self) -> tuple[str, str, str]:
        return self.local_x, self.local_y, self.local_z

    @property
    def counters(self) -> tuple[str, ...]:
        return self.c0, self.c1, self.c2, self.c3


@dataclass(frozen=True)
class CopyPlan:
    """A collective copy, ready to print. `rounds` is how many elements a work-item copies at
    most, `partial` whether some have fewer in the last round."""

    comment: str
    own: OwnNames
    group: str
    total: str
    rounds: int
    partial: bool
    coordinates: tuple[tuple[str, str], ...]
    moves: tuple[str, ...]


@dataclass(frozen=True)
class Half:
    """One half of a copy: from memory into the `registers` of the work-items, or (`stored`) from
    there into the tile."""

    registers: str
    stored: bool


def plan_copy(
    s: Copy,
    group: tuple[Expr, Expr, Expr],
    own: OwnNames,
    dialect: KernelDialect,
    half: Half | None = None,
) -> CopyPlan:
    """Plans the copy for a group of that shape, or half of it; `own` are free names."""
    sized = [n for n, x in enumerate(s.slices) if x.size is not None]
    sizes = {n: s.slices[n].size or Const(1) for n in sized}
    if s.width > 1:
        sizes[sized[-1]] = Const((value_of(sizes[sized[-1]]) or 0) // s.width)
    counters = {n: own.counters[k] for k, n in enumerate(sized)}
    threads = _product(list(reversed(group)))
    total = _product([sizes[n] for n in sized])
    elements, items = value_of(total) or 1, value_of(threads) or 1
    types = {**dialect.types, own.at: UINT, **dict.fromkeys(counters.values(), INT)}
    rounds = -(-elements // items)
    kept = None
    if half is not None:
        kept = Load(half.registers, (Var(own.r) if rounds > 1 else Const(0),))
        types |= {half.registers: types[s.target], own.r: UINT}
        dialect = replace(dialect, kept={**dialect.kept, half.registers: (0,)})
    d = replace(dialect, types=types)
    index = tuple(_source(s, n, counters) for n in range(len(s.slices)))
    source, target = Load(s.source, index), Load(s.target, tuple(Var(counters[n]) for n in sized))
    fetch, store = _moves(s, source, target, _value(s, source, counters), kept, own, d)
    moves = [*fetch, *store] if half is None else store if half.stored else fetch
    cut = ", ".join(map(slice_text, s.slices))
    which = "" if half is None else _HALVES[half.stored]
    return CopyPlan(
        comment=f"{s.target} = {s.source}[{cut}]{which}",
        own=own,
        group=cexpr.expr(threads, d, 13),
        total=cexpr.expr(total, d, 11),
        rounds=rounds,
        partial=elements % items != 0,
        coordinates=tuple(_coordinates(sized, sizes, counters, own, d, s.width)),
        moves=tuple(moves),
    )


_HALVES = {False: ", into registers", True: ", from registers"}


def _moves(
    s: Copy,
    source: Load,
    target: Load,
    value: Expr,
    kept: Load | None,
    own: OwnNames,
    d: KernelDialect,
) -> tuple[list[str], list[str]]:
    """The statements of one round that fetch, and those that store what was fetched in `kept`."""
    if s.width == 1:
        if kept is None:
            return [], [cexpr.assign(Assign(target, value), d)]
        return [cexpr.assign(Assign(kept, value), d)], [cexpr.assign(Assign(target, kept), d)]
    kind = vector_type(s, d)
    read = f"{LOAD}({kind}, {s.width}, &{d.load(source)})"
    into, name = (f"const {kind} {own.v}", own.v) if kept is None else (d.load(kept),) * 2
    return [f"{into} = {read}"], list(_stored(target, name, s.width, d))


def vector_type(s: Copy, d: KernelDialect) -> str:
    """What a copy moves at once: an element, or a vector of them."""
    return d.type_name(d.types[s.target]) + (str(s.width) if s.width > 1 else "")


def _stored(target: Load, vector: str, width: int, d: KernelDialect) -> Iterator[str]:
    """Stores a vector: as one where the tile keeps the neighbours together."""
    tile, last = d.tiles[target.array], len(target.index) - 1
    if tile.order[-1] == last and tile.holds(width):
        kind = f"{d.type_name(d.types[target.array])}{width}"
        yield f"*(__local {kind} *)&{d.element(target, whole=True)} = {vector}"
        return
    for n in range(width):
        at = (*target.index[:last], simplify(Bin("+", target.index[last], Const(n))))
        yield f"{d.load(Load(target.array, at))} = {vector}.s{n:x}"


def _product(parts: list[Expr]) -> Expr:
    out: Expr = Const(1)
    for p in parts:
        out = p if value_of(out) == 1 and isinstance(out, Const) else Bin("*", out, p)
    return simplify(out)


def _index(s: Copy, n: int, counters: dict[int, str]) -> Expr:
    """The subscript in dimension n, as if there were no limit."""
    x = s.slices[n]
    if value_of(x.lo) == 0 and n in counters:
        return Var(counters[n])
    return Bin("+", x.lo, Var(counters[n])) if n in counters else x.lo


def _source(s: Copy, n: int, counters: dict[int, str]) -> Expr:
    """The subscript in dimension n, never past the limit but where padding is copied instead."""
    x, at = s.slices[n], _index(s, n, counters)
    if x.limit is None or _padded(s, n):
        return at
    width = s.width if n == len(s.slices) - 1 else 1
    return Bin("min", at, simplify(Bin("-", x.limit, Const(width))))


def _padded(s: Copy, n: int) -> bool:
    return s.pad is not None and s.slices[n].limit is not None and not s.slices[n].clamp


def _value(s: Copy, element: Load, counters: dict[int, str]) -> Expr:
    """The element, or padding where it does not exist."""
    tests: list[Expr] = []
    for n in (n for n in range(len(s.slices)) if _padded(s, n)):
        limit = s.slices[n].limit
        assert limit is not None
        tests.append(Bin("<", _index(s, n, counters), limit))
    if s.pad is None or not tests:
        return element
    return Select(conjunction(tests), element, s.pad)


def _coordinates(
    sized: list[int],
    sizes: dict[int, Expr],
    counters: dict[int, str],
    own: OwnNames,
    d: KernelDialect,
    width: int,
) -> list[tuple[str, str]]:
    """Element number -> one coordinate per dimension, the last one fastest; of vectors their first
    elements."""
    out: list[tuple[str, str]] = []
    below: list[Expr] = []
    for n in reversed(sized):
        divisor = _product(below)
        text = own.at if not below else f"{own.at} / {_factor(divisor, d)}"
        if n != sized[0]:
            text = f"{text} % {_factor(sizes[n], d)}"
        if width > 1 and n == sized[-1]:
            text = f"{text} * {width}"
        out.append((counters[n], text))
        below.append(sizes[n])
    return list(reversed(out))


def _factor(e: Expr, d: KernelDialect) -> str:
    """A size in unsigned arithmetic: `Tk`, `(Ty*Ry)`."""
    text = cexpr.expr(e, d)
    return f"({text})" if "*" in text or "+" in text else text
