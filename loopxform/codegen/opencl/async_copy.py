"""Copies that the hardware makes on its own (the step `async`): what a work-item starts of them.

Hardware copies 4, 8 or 16 bytes at a time, as they are. Everything else a work-item copies itself:
what is converted on the way, smaller elements one at a time, numbers in place of what does not
exist.
"""

from __future__ import annotations

from loopxform.codegen import cexpr
from loopxform.codegen.opencl.dialect import KernelDialect
from loopxform.ir.affine import simplify
from loopxform.ir.nodes import Assign, Bin, Const, Copy, Expr, Load
from loopxform.transforms.edges.bounds import conjunction

START = "LX_START"
START_VECTOR = "LX_START_VECTOR"
"""Start the copy of an element, or of a vector (templates/kernels.cl.j2)."""

STARTED = "LX_STARTED"
ARRIVED = "LX_ARRIVED"
"""What was started since the last STARTED is one thing to wait for; ARRIVED(n) waits for all of
them but the last n."""

PIECES = (4, 8, 16)
"""Bytes."""


def started(
    s: Copy, source: Load, target: Load, tests: list[Expr], exists: str, d: KernelDialect
) -> list[str] | None:
    """The statements of one round for elements (with `tests`, those that exist: the name of that is
    free) from `source` to `target`; None where the work-items copy them themselves."""
    pieces = _pieces(s, source, target, d)
    if pieces is None or not tests:
        return pieces
    assert s.pad is not None
    instead = [cexpr.assign(Assign(x, s.pad), d) for x in _elements(target, s.width)]
    return [
        f"const int {exists} = {cexpr.expr(conjunction(tests), d)}",
        *(f"if ({exists}) {x}" for x in pieces),
        *(f"if (!{exists}) {x}" for x in instead),
    ]


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
