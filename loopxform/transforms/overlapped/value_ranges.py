"""The integers that an expression may be whatever its variables and elements are: what types, masks
and clamps alone say.

    (uchar) a[i]                          0 to 255
    v < 0 ? 0 : v > 1023 ? 1023 : v       0 to 1023
    (v & 7) + 1                           1 to 8
"""

from __future__ import annotations

from loopxform.ir.nodes import Bin, Cast, Const, Expr, Select
from loopxform.ir.types import Scalar
from loopxform.ir.typing import type_of

Range = tuple[int, int]
"""The least and the most."""

REVERSED = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "==": "=="}

CONTRARY = {"<": ">=", ">": "<=", "<=": ">", ">=": "<"}


def value_range(e: Expr, types: dict[str, Scalar]) -> Range | None:
    """Of an integer; None of other numbers. Variables have `types`."""
    type = type_of(e, types)
    if not type.is_integer:
        return None
    every = type.least, type.most
    known = _known(e, types)
    inside = known is not None and every[0] <= known[0] and known[1] <= every[1]
    return known if inside else every


def _known(e: Expr, types: dict[str, Scalar]) -> Range | None:
    match e:
        case Const(int() as n):
            return n, n
        case Cast(_, x):
            return value_range(x, types)
        case Select(cond, then, orelse):
            return _chosen(cond, then, orelse, types)
        case Bin("+" | "-" | "&" | "min" | "max" | ">>" as op, left, right):
            a, b = value_range(left, types), value_range(right, types)
            return None if a is None or b is None else _combined(op, a, b)
        case _:
            return None


def _combined(op: str, a: Range, b: Range) -> Range | None:
    match op:
        case "+":
            return a[0] + b[0], a[1] + b[1]
        case "-":
            return a[0] - b[1], a[1] - b[0]
        case "min" | "max" if min(a[0], b[0]) >= 0:
            least, most = zip(a, b)
            return (min(least), min(most)) if op == "min" else (max(least), max(most))
        case "&":
            ends = [x[1] for x in (a, b) if x[0] >= 0]
            return (0, min(ends)) if ends else None
        case ">>" if b[0] == b[1] and 0 <= b[0] < 32:
            return a[0] >> b[0], a[1] >> b[0]
        case _:
            return None


def _chosen(cond: Expr, then: Expr, orelse: Expr, types: dict[str, Scalar]) -> Range | None:
    """What either branch may be, where the condition holds and where it does not."""
    ends = [
        _under(x, cond, value_range(x, types), types, holds=holds)
        for x, holds in ((then, True), (orelse, False))
    ]
    every = [x for x in ends if x is None or x[0] <= x[1]]
    known = [x for x in every if x is not None]
    if len(known) < len(every) or not known:
        return None
    return min(a for a, _ in known), max(b for _, b in known)


def _under(
    e: Expr, cond: Expr, of: Range | None, types: dict[str, Scalar], *, holds: bool
) -> Range | None:
    """A range by a comparison of the same expression with a number, which holds or does not; the
    branches of a choice, each by what leads to it."""
    if isinstance(e, Select):
        ends = [
            _under(
                x,
                e.cond,
                _under(x, cond, value_range(x, types), types, holds=holds),
                types,
                holds=inner,
            )
            for x, inner in ((e.then, True), (e.orelse, False))
        ]
        known = [x for x in ends if x is not None and x[0] <= x[1]]
        if None in ends or not known:
            return of
        return min(a for a, _ in known), max(b for _, b in known)
    if not isinstance(cond, Bin) or cond.op not in CONTRARY or of is None:
        return of
    op, x, n = cond.op, cond.left, cond.right
    if isinstance(x, Const):
        op, x, n = REVERSED[op], n, x
    if x != e or not isinstance(n, Const) or not isinstance(n.value, int):
        return of
    if type_of(Bin("+", x, n), types).is_unsigned and of[0] < 0:
        return of
    low, high = of
    match op if holds else CONTRARY[op]:
        case "<":
            return low, min(high, n.value - 1)
        case "<=":
            return low, min(high, n.value)
        case ">":
            return max(low, n.value + 1), high
        case _:
            return max(low, n.value), high
