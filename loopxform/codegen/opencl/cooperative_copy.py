"""Who copies what in a collective copy.

The elements of the tile are numbered along the fastest dimension of the source in global memory,
and work-item n copies elements n, n + group, n + 2*group, ...: neighbours touch neighbouring
addresses whatever the layout of the operand, and any group shape serves any tile. (Cholewa-Madsen
and Holst, section 4.3.)
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Mapping as Map
from dataclasses import replace
from functools import reduce
from typing import ClassVar, Literal

from loopxform.codegen import cexpr
from loopxform.codegen.opencl.async_copy import places, started
from loopxform.codegen.opencl.dialect import IF, KernelDialect
from loopxform.codegen.opencl.halves import VALUE
from loopxform.codegen.opencl.vector_moves import LOAD
from loopxform.codegen.opencl.word_copy import of_words
from loopxform.ir.affine import simplify, value_of
from loopxform.ir.nodes import Assign, Bin, Cast, Const, Copy, Expr, Load, Select, Un, Var
from loopxform.ir.printer import expr_text, slice_text
from loopxform.ir.types import HALF, INT, UINT
from loopxform.records import record
from loopxform.transforms.edges.bounds import conjunction

SPREAD = "LX_SPREAD"
"""Writes a vector down a column of a tile."""


@record
class OwnNames:
    """The names a kernel adds to the user's. `next` are the registers that keep, for each tile,
    what a work-item fetched ahead, `places` those that say where what it copies begins in the tile
    and in the array."""

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
    ahead: str
    end: str
    term: str
    shift: str
    lane: str
    lane_x: str
    lane_y: str
    group_y: str
    usual: str
    odd: str
    quick: str
    next: Map[str, str]
    places: Map[str, tuple[str, str]]

    WANTED: ClassVar[tuple[str, ...]] = (
        *("local_x", "local_y", "local_z"),
        *("item", "r", "at", "c0", "c1", "c2", "c3", "v"),
        *("stage", "number", "first", "rows", "ahead", "end", "term", "shift"),
        *("lane", "lane_x", "lane_y", "group_y", "usual", "odd", "quick"),
    )

    @property
    def local_ids(self) -> tuple[str, str, str]:
        return self.local_x, self.local_y, self.local_z

    @property
    def counters(self) -> tuple[str, ...]:
        return self.c0, self.c1, self.c2, self.c3


@record
class CopyPlan:
    """A collective copy, ready to print. `rounds` is how many elements a work-item copies at
    most, in a loop where it `loops`, from round `first` on while `more` holds; `test` says which
    work-items have one in the last round, where not all do."""

    comment: str
    own: OwnNames
    group: str
    rounds: int
    loops: bool
    test: str
    coordinates: tuple[tuple[str, str], ...]
    moves: tuple[str, ...]
    first: str = "0"
    more: str = ""


Part = Literal["fetch", "mend", "store", "place", "start"]


@record
class Phase:
    """A part of a copy through the `registers` of the work-items: from memory into them (fetch),
    padding in place of what does not exist (mend), from there into the tile (store). What is
    fetched is not looked at: a work-item need not wait for it. Or all of it, past the registers, as
    far as hardware can (start), from places that were computed before (place) where these are
    `placed`, for tiles that are so many iterations apart (`step`)."""

    registers: str
    part: Part
    placed: bool = False
    step: Expr = Const(1)


def plan_copy(
    s: Copy,
    group: tuple[Expr, Expr, Expr],
    own: OwnNames,
    dialect: KernelDialect,
    phase: Phase | None = None,
) -> CopyPlan:
    """Plans the copy for a group of that shape, or one phase of it; `own` are free names."""
    whole = s
    if phase is not None and phase.part == "fetch":
        s = _clamped(s)
    sized = [n for n, x in enumerate(s.slices) if x.size is not None]
    sizes = {n: s.slices[n].size or Const(1) for n in sized}
    words = of_words(s, dialect.tiles[s.target], sized)
    if words is not None:
        s = words.copy
        sizes[words.along] = Const((value_of(sizes[words.along]) or 0) // words.packed)
    elif s.width > 1:
        sizes[sized[-1]] = Const((value_of(sizes[sized[-1]]) or 0) // s.width)
    counters = {n: own.counters[k] for k, n in enumerate(sized)}
    threads = _product(list(reversed(group)))
    total = _product([sizes[n] for n in sized])
    elements, items = value_of(total) or 1, value_of(threads) or 1
    types = {**dialect.types, own.at: UINT, **dict.fromkeys(counters.values(), INT)}
    rounds = -(-elements // items)
    # Kernels that are to share their text have a loop even around one round.
    loops = rounds > 1 or dialect.several
    kept = None
    if phase is not None and phase.part not in ("place", "start"):
        kept = Load(phase.registers, (Var(own.r) if loops else Const(0),))
        types |= {phase.registers: types[s.source], own.r: UINT}
        packed = dialect.packed | ({phase.registers} if s.source in dialect.packed else set())
        registers = {**dialect.kept, phase.registers: (0,)}
        dialect = replace(dialect, kept=registers, packed=packed)
    d = replace(dialect, types=types)
    index = tuple(_source(s, n, counters) for n in range(len(s.slices)))
    source, target = Load(s.source, index), Load(s.target, tuple(Var(counters[n]) for n in sized))
    known = None
    if phase is not None and phase.placed and s.pad is None and elements % items == 0:
        ahead = own.ahead, phase.step
        known = places(s, source, target, own.places[s.target], own.r, ahead, d)
    if words is not None:
        tests = _tests(s, counters)
        pad = _pad(s, s.pad, source, d) if s.pad is not None else ""
        part = None if phase is None else phase.part
        moves = words.moves(part, source, target, tests, pad, kept, counters, own.v, d)
    elif phase is not None and phase.part == "mend":
        assert kept is not None
        moves = _mended(s, counters, kept, d)
    elif known is not None and phase is not None:
        moves, loops = known.start if phase.part == "start" else known.set, True
        counters = counters if phase.part == "place" else {}
    else:
        fetch, store = _moves(s, source, target, _value(s, source, counters), kept, own, d)
        match None if phase is None else phase.part:
            case "fetch":
                moves = fetch
            case "store":
                moves = store
            case "place":
                moves = []
            case "start":
                pad = _pad(s, s.pad, source, d) if s.pad is not None else ""
                tests = _tests(s, counters)
                moves = started(s, source, target, tests, pad, own.v, d) or [*fetch, *store]
            case _:
                moves = [*fetch, *store]
    return CopyPlan(
        comment=_comment(whole, phase),
        own=own,
        group=cexpr.expr(threads, d, 13),
        rounds=rounds,
        loops=loops,
        test=_test(total, own, d, partial=elements % items != 0) if counters else "",
        coordinates=tuple(_coordinates(sized, sizes, counters, own, d, 1 if words else s.width))
        if counters
        else (),
        moves=tuple(moves),
    )


def _test(total: Expr, own: OwnNames, d: KernelDialect, *, partial: bool) -> str:
    """Whether an element is one of the tile; "" where each is."""
    if d.several:
        return f"{IF}({int(partial)}, {own.at} < {value_of(total)})"
    return f"if ({own.at} < {cexpr.expr(total, d, 11)})" if partial else ""


_PARTS: dict[Part, str] = {
    "fetch": ", into registers",
    "store": ", from registers",
    "place": ", where parts begin",
    "start": ", asynchronously",
}


def _comment(s: Copy, phase: Phase | None) -> str:
    if phase is not None and phase.part == "mend":
        limits = (x.limit for n, x in enumerate(s.slices) if _padded(s, n) and x.limit is not None)
        assert s.pad is not None
        return f"{s.target}: {expr_text(s.pad)} past {' and '.join(map(expr_text, limits))}"
    cut = ", ".join(map(slice_text, s.slices))
    return f"{s.target} = {s.source}[{cut}]{'' if phase is None else _PARTS[phase.part]}"


def _clamped(s: Copy) -> Copy:
    """A copy of the last valid elements in place of padding."""
    slices = tuple(replace(x, clamp=x.clamp or _padded(s, n)) for n, x in enumerate(s.slices))
    return replace(s, slices=slices, pad=None)


def _mended(s: Copy, counters: dict[int, str], kept: Load, d: KernelDialect) -> list[str]:
    """Padding in place of what was fetched, where it does not exist."""
    assert s.pad is not None
    test, pad = conjunction(_tests(s, counters)), _pad(s, s.pad, kept, d)
    value = pad if s.width == 1 else f"({vector_type(s, d)})({pad})"
    return [f"if ({cexpr.expr(Un('!', test), d)}) {d.load(kept)} = {value}"]


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
    if isinstance(value, Select):
        test, pad = cexpr.expr(value.cond, d, 3), _pad(s, value.orelse, source, d)
        read = f"{test} ? {read} : ({kind})({pad})"
    into, name = (f"const {kind} {own.v}", own.v) if kept is None else (d.load(kept),) * 2
    return [f"{into} = {read}"], list(_stored(s, target, name, d))


def _pad(s: Copy, e: Expr, into: Load, d: KernelDialect) -> str:
    """Padding as the source would hold it."""
    kind = d.types[s.source]
    same = kind == HALF or d.type_of(e) == kind
    return cexpr.stored(e if same else Cast(kind, e), into, d)


def vector_type(s: Copy, d: KernelDialect) -> str:
    """What a copy moves at once: an element, or a vector of them."""
    kind, tile = d.memory_name(s.source), d.tiles.get(s.target)
    width = s.width if tile is None or tile.packed == 1 else tile.packed
    return kind + (str(width) if width > 1 else "")


def _stored(s: Copy, target: Load, vector: str, d: KernelDialect) -> Iterator[str]:
    """Stores a vector, converted to what the tile holds: as one where the tile keeps the neighbours
    together."""
    tile, last = d.tiles[target.array], len(target.index) - 1
    same = d.types[s.source] == d.types[s.target]
    bits = s.source in d.packed and not same
    parts = [f"{vector}.s{n:x}" for n in range(s.width)]
    parts = [f"{VALUE}({x})" for x in parts] if bits else parts
    if tile.order[-1] == last and tile.holds(s.width):
        kind = f"{d.memory_name(target.array)}{s.width}"
        whole = f"({kind})({', '.join(parts)})" if bits else f"convert_{kind}({vector})"
        whole = vector if same else whole
        yield f"*(__local {kind} *)&{d.element(target, whole=True)} = {whole}"
        return
    ends = [simplify(Bin("+", target.index[last], Const(n))) for n in range(s.width)]
    places = [d.load(Load(target.array, (*target.index[:last], at))) for at in ends]
    rows = [place.rsplit("[", 2) for place in places]
    below = [
        [tile, f"{rows[0][1][:-1]}{f' + {n}' if n else ''}]", column]
        for n, (tile, _, column) in enumerate(rows)
    ]
    columns = {x[2] for x in rows}
    if d.several and parts[0] == f"{vector}.s0" and rows == below and len(columns) == 1:
        name, row, at = rows[0]
        yield f"{SPREAD}({s.width}, {name}, {row[:-1]}, {at[:-1]}, {vector})"
        return
    for place, part in zip(places, parts):
        yield f"{place} = {part}"


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
    """The subscript in dimension n, never before the floor, and never past the limit but where
    padding is copied instead."""
    x, at = s.slices[n], _index(s, n, counters)
    if x.floor is not None:
        at = Bin("max", at, x.floor)
    if x.limit is None or _padded(s, n):
        return at
    width = s.width if n == len(s.slices) - 1 else 1
    return Bin("min", at, simplify(Bin("-", x.limit, Const(width))))


def _padded(s: Copy, n: int) -> bool:
    return s.pad is not None and s.slices[n].limit is not None and not s.slices[n].clamp


def _value(s: Copy, element: Load, counters: dict[int, str]) -> Expr:
    """The element, or padding where it does not exist."""
    tests = _tests(s, counters)
    if s.pad is None or not tests:
        return element
    return Select(conjunction(tests), element, s.pad)


def _tests(s: Copy, counters: dict[int, str]) -> list[Expr]:
    """Whether an element exists, as far as there is padding for it."""
    tests: list[Expr] = []
    for n in (n for n in range(len(s.slices)) if _padded(s, n)):
        limit = s.slices[n].limit
        assert limit is not None
        tests.append(Bin("<", _index(s, n, counters), limit))
    return tests


def past_end(s: Copy) -> Expr | None:
    """Whether a part of the tile does not exist and gets padding; None where it has none."""
    asked: list[Expr] = []
    for n, x in enumerate(s.slices):
        if _padded(s, n) and x.limit is not None:
            asked.append(Bin(">", x.lo, simplify(Bin("-", x.limit, x.size or Const(1)))))
    return reduce(lambda a, b: Bin("||", a, b), asked) if asked else None


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
