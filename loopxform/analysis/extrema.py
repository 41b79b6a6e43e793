"""Running extrema: `if (e < s) s = e`, and with them the index where they were found.

    if (e > m) { m = e; k = f; }     m is reduced with max, k with argmax: the pair (m, k) as one

Of equal values the first one decides where the comparison is strict, else the last one; so the
pair may be reduced in any order only by a rule that compares the iterations of equal values too.
"""

from __future__ import annotations

from loopxform.ir.nodes import Assign, Bin, Expr, If, Var
from loopxform.ir.visit import names
from loopxform.records import slotted


def extremum(cond: Expr, e: Expr, s: Expr) -> str | None:
    """ "min" where `cond` says that e is below s, max where it says above."""
    match cond:
        case Bin("<" | "<=", left, right) if (left, right) == (e, s):
            return "min"
        case Bin(">" | ">=", left, right) if (left, right) == (e, s):
            return "max"
        case Bin("<" | "<=", left, right) if (left, right) == (s, e):
            return "max"
        case Bin(">" | ">=", left, right) if (left, right) == (s, e):
            return "min"
        case _:
            return None


def opposite(op: str) -> str:
    return "max" if op == "min" else "min"


@slotted
class Located:
    """An extremum with its indices: `op` is min or max, `value` the position of its assignment in
    the branch, `indices` those of the others."""

    op: str
    value: int
    indices: tuple[int, ...]


def located(s: If) -> Located | None:
    """The extremum that the branch of an `if` keeps together with scalars that say where it was
    found; None for any other statement."""
    if s.orelse or len(s.then) < 2 or not all(_plain(x) for x in s.then):
        return None
    parts = [x for x in s.then if isinstance(x, Assign)]
    found = [(n, op) for n, x in enumerate(parts) if (op := extremum(s.cond, x.value, x.target))]
    targets = [x.target.name for x in parts if isinstance(x.target, Var)]
    if len(found) != 1 or len(set(targets)) != len(parts):
        return None
    read = frozenset[str]().union(*(names(x.value) for x in parts))
    if read & set(targets):
        return None
    ((at, op),) = found
    return Located(op, at, tuple(n for n in range(len(parts)) if n != at))


def _plain(s: object) -> bool:
    return isinstance(s, Assign) and not s.op and isinstance(s.target, Var)
