"""Copies that the hardware makes on its own (the step `async`): what a work-item starts of them.

Hardware copies 4, 8 or 16 bytes at a time, as they are. Everything else a work-item copies itself:
what is converted on the way, smaller elements one at a time, numbers in place of what does not
exist.
"""

from __future__ import annotations

from dataclasses import replace

from loopxform.codegen import cexpr
from loopxform.codegen.opencl.dialect import KernelDialect
from loopxform.codegen.row_major import row_major
from loopxform.ir.affine import poly, simplify, to_expr
from loopxform.ir.nodes import Assign, Bin, Const, Copy, Expr, Load, Var
from loopxform.ir.types import INT, UINT
from loopxform.ir.visit import substitute
from loopxform.records import record
from loopxform.transforms.edges.bounds import conjunction

START = "LX_START"
START_VECTOR = "LX_START_VECTOR"
"""Start the copy of an element, or of a vector (templates/kernels.cl.j2)."""

STARTED = "LX_STARTED"
ARRIVED = "LX_ARRIVED"
"""What was started since the last STARTED is one thing to wait for; ARRIVED(n) waits for all of
them but the last n."""

FROM = "LX_FROM"
PLACE = "LX_PLACE"
FURTHER = "LX_FURTHER"
AT = "LX_AT"
"""The type of a place in global memory that a work-item keeps, the place of an element, how far one
is from another, and what is there (templates/kernels.cl.j2)."""

PIECES = (4, 8, 16)
"""Bytes."""


def started(
    s: Copy,
    source: Load,
    target: Load,
    tests: list[Expr],
    pad: str,
    exists: str,
    d: KernelDialect,
) -> list[str] | None:
    """The statements of one round for elements (with `tests`, those that exist: the name of that is
    free; others are `pad`) from `source` to `target`; None where the work-items copy them
    themselves."""
    pieces = _pieces(s, source, target, d)
    if pieces is None or not tests:
        return pieces
    assert s.pad is not None
    if s.width > 1 and len(pieces) == 1:
        kind = f"{d.memory_name(s.source)}{s.width}"
        instead = [f"*(__local {kind} *)&{d.element(target, whole=True)} = ({kind})({pad})"]
    else:
        instead = [cexpr.assign(Assign(x, s.pad), d) for x in _elements(target, s.width)]
    return [
        f"const int {exists} = {cexpr.expr(conjunction(tests), d)}",
        *(f"if ({exists}) {x}" for x in pieces),
        *(f"if (!{exists}) {x}" for x in instead),
    ]


@record
class Places:
    """Where the vectors of a work-item begin: what sets the registers that say so, which are the
    same in all iterations, and what starts their copies."""

    set: list[str]
    start: list[str]


def places(
    s: Copy,
    source: Load,
    target: Load,
    names: tuple[str, str],
    counter: str,
    ahead: tuple[str, Expr],
    d: KernelDialect,
) -> Places | None:
    """The same for tiles of tensor units, with registers of these names for places in the tile and
    in the array, one of each by the `counter` of rounds; None where a work-item does not copy
    vectors that follow each other along `ahead`, a variable and its step, from an array that an int
    numbers the elements of. Places of what warps read together go along with it."""
    pieces = _pieces(s, source, target, d)
    tile = d.tiles[s.target]
    known = s.source in d.narrow and s.source not in d.places and (tile.moved or tile.pieces)
    if pieces is None or len(pieces) > 1 or s.width == 1 or not known:
        return None
    at = _offset(source, d)
    variable, by = ahead
    first = substitute(at, {variable: Const(0)})
    step = (poly(at) - poly(first)).divide(poly(Var(variable)))
    if step is None or step.mentions(variable):
        return None
    types = {**d.types, **dict.fromkeys(names, INT), counter: UINT}
    d = replace(d, types=types, kept={**d.kept, **dict.fromkeys(names, (0,))})
    base, cell = d.cell(target)
    to, begin = (Load(n, (Var(counter),)) for n in names)
    kind, whole = f"{d.memory_name(s.source)}{s.width}", d.types[s.source].bytes * s.width
    start = f"{START_VECTOR}({kind}, {s.width}, {whole}, &{base} + {d.load(to)}, "
    array, own, set_to = d.name(s.source), d.load(begin), cexpr.assign(Assign(to, cell), d)
    if tile.pieces is not None:
        further = cexpr.expr(simplify(Bin("*", by, to_expr(step))), d)
        return Places(
            [set_to, f"{own} = {PLACE}({array}, {cexpr.expr(simplify(first), d)})"],
            [f"{start}{AT}({array}, {own}))", f"{own} += {FURTHER}({array}, {further})"],
        )
    moved = simplify(Bin("*", Var(variable), to_expr(step)))
    return Places(
        [set_to, cexpr.assign(Assign(begin, simplify(first)), d)],
        [f"{start}&{array}[{cexpr.expr(Bin('+', begin, moved), d)}])"],
    )


def _offset(e: Load, d: KernelDialect) -> Expr:
    """How far an element of an array is from the first one."""
    shape = d.linear.get(e.array)
    if shape is None or len(e.index) < 2:
        return e.index[0]
    (total, *others), rows = row_major(e.index, shape)
    for position, row in zip(others, rows):
        for extent in row:
            total = Bin("*", total, extent)
        total = Bin("+", total, position)
    return total


def _pieces(s: Copy, source: Load, target: Load, d: KernelDialect) -> list[str] | None:
    kind, tile = d.types[s.source], d.tiles[s.target]
    if kind != d.types[s.target] or s.source in d.constants:
        return None
    together = tile.order[-1] == len(target.index) - 1 and tile.holds(s.width)
    whole = kind.bytes * s.width
    if s.width > 1 and together and whole in PIECES:
        name = f"{d.memory_name(s.source)}{s.width}"
        to = f"&{d.element(target, whole=True)}"
        return [f"{START_VECTOR}({name}, {s.width}, {whole}, {to}, &{d.load(source)})"]
    if kind.bytes not in PIECES:
        return None
    pairs = zip(_elements(target, s.width), _elements(source, s.width))
    return [f"{START}({kind.bytes}, &{d.load(to)}, &{d.load(at)})" for to, at in pairs]


def _elements(first: Load, width: int) -> list[Load]:
    """So many neighbours along the last dimension."""
    *slow, fast = first.index
    return [Load(first.array, (*slow, simplify(Bin("+", fast, Const(n))))) for n in range(width)]
