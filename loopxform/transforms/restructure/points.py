"""The point at which a loop is split: an integer expression that may be computed before it.

    POINT ::= + - * / % and min(,) max(,) over numbers, tile sizes, lo, hi, and integer scalars

`lo` and `hi` are the bounds of the loop, unless the program has variables of these names. Every
scalar has a value before the loop and keeps it in there; no division is by 0. Arithmetic that could
leave the range of its type is done in long.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

from loopxform.analysis.context import always
from loopxform.analysis.region import visible
from loopxform.errors import Obstacle
from loopxform.ir.affine import simplify, value_of
from loopxform.ir.nodes import Assign, Bin, Cast, Const, Expr, For, Function, Tile, Un, Var
from loopxform.ir.types import LONG, Scalar, promote
from loopxform.ir.typing import symbols, type_of
from loopxform.ir.visit import LoopSite, at, loops_around, map_expr, walk, walk_expr, writes

LONGEST = 200
OPERATORS: dict[type[ast.AST], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.Mod: "%",
}


class _Refused(Exception):
    """A point that cannot be used, with the code and the reason."""

    def __init__(self, code: str, message: str, remedy: str) -> None:
        super().__init__(message)
        self.code, self.message, self.remedy = code, message, remedy


def parse_point(fn: Function, site: LoopSite, text: str) -> Expr | Obstacle:
    """The value of the point as C computes it at the loop, without overflow."""
    try:
        return _Reader(fn, site, text).point()
    except _Refused as why:
        return Obstacle(why.code, why.message, site.loop.origin.loc, remedy=why.remedy)


@dataclass
class _Reader:
    fn: Function
    site: LoopSite
    text: str

    def point(self) -> Expr:
        unreadable = self._wrong("is not an integer expression", "write it in C without blanks")
        if len(self.text) > LONGEST or not re.fullmatch(r"[\w+\-*/%(),]+", self.text, re.ASCII):
            raise unreadable
        try:
            tree = ast.parse(self.text, mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            raise unreadable from None
        point = simplify(self._expr(tree))
        for x in walk_expr(point):
            if isinstance(x, Bin) and x.op in ("/", "%") and not self._positive(x.right):
                message = f"the point '{self.text}' divides by what may be 0 or negative"
                raise _Refused("LX138", message, "divide by a positive number")
        found = safe(self.fn, self.site, point, self.text)
        if isinstance(found, Obstacle):
            raise _Refused(found.code, found.message, found.remedy or "")
        return found

    def _positive(self, e: Expr) -> bool:
        return always(self.fn, self.site.path, Bin(">=", e, Const(1)))

    def _expr(self, e: ast.expr) -> Expr:
        match e:
            case ast.Constant(value=int(value)) if not isinstance(value, bool) and value < 1 << 31:
                return Const(value)
            case ast.Name(id=name):
                return self._name(name)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return Un("-", self._expr(operand))
            case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATORS:
                return Bin(OPERATORS[type(op)], self._expr(left), self._expr(right))
            case ast.Call(func=ast.Name(id="min" | "max" as name), args=[left, right], keywords=[]):
                return Bin(name, self._expr(left), self._expr(right))
            case _:
                raise self._wrong("is not an integer expression", "use + - * / % min max")

    def _name(self, name: str) -> Expr:
        fn, loop, path = self.fn, self.site.loop, self.site.path
        tiles, around = dict(fn.tiles), [x.var for x in loops_around(fn, path)]
        if name in tiles:
            return Tile(name, tiles[name])
        if name in around:
            return Var(name)
        storage = visible(fn, path).get(name)
        if storage is None and name in ("lo", "hi"):
            return loop.lo if name == "lo" else loop.hi
        if storage is None or storage.rank or not symbols(fn)[name].is_integer or name == loop.var:
            raise self._wrong(
                f"reads '{name}', which is not an integer that is known before the loop",
                "use parameters, variables of loops around, lo or hi",
            )
        counters = {s.var for _, s in walk(loop.body) if isinstance(s, For)}
        if name in writes(loop.body) | counters:
            raise self._unknown(f"'{name}' changes in the loop over '{loop.var}'")
        if storage.decl is not None and not _is_set(fn, self.site, name):
            raise self._unknown(f"'{name}' may have no value before the loop over '{loop.var}'")
        return Var(name)

    def _wrong(self, why: str, remedy: str) -> _Refused:
        return _Refused("LX025", f"the point '{self.text}' {why}", remedy)

    def _unknown(self, why: str) -> _Refused:
        return _Refused("LX138", why, "copy it into another variable before the loop")


def _is_set(fn: Function, site: LoopSite, name: str) -> bool:
    """Whether a statement before the loop, in its body or one around, assigns the scalar."""
    for depth, n in enumerate(site.path):
        place = site.path[:depth]
        earlier = range(n) if n >= 0 else range(-1, n, -1)
        for m in earlier:
            s = at(fn, (*place, m))
            if isinstance(s, Assign) and s.target == Var(name):
                return True
    return False


# ---------------------------------------------------------------- overflow


def safe(fn: Function, site: LoopSite, e: Expr, text: str) -> Expr | Obstacle:
    """`e`, or `e` computed in long, so that it cannot overflow."""
    loop, types = site.loop, symbols(fn)
    atoms = [x for x in walk_expr(e) if not isinstance(x, Bin | Un | Const | Tile)]
    mixed = [promote(type_of(x, types)) for x in atoms]
    mixed += [promote(loop.type), *(_type(x, types) for x in (loop.lo, loop.hi) if not _fixed(x))]
    unsigned = {t for t in mixed if t.is_unsigned}
    if not unsigned or len(set(mixed)) == 1:
        kind = type_of(e, types) if not unsigned else mixed[0]
        if spread(fn, site, e, types, kind) is not None:
            return e
    wide = map_expr(e, lambda x: _in_long(x, types))
    found = spread(fn, site, wide, types, LONG)
    signed = not unsigned or type_of(wide, types) == LONG or (found or (-1, 0))[0] >= 0
    if found is not None and signed and all(t.bytes < 8 for t in unsigned):
        return wide
    message = f"the point '{text}' may be computed with overflow, or wrap around"
    remedy = "guard the loop by a condition on what the point reads"
    return Obstacle("LX138", message, loop.origin.loc, remedy=remedy)


def fits_type(fn: Function, site: LoopSite, e: Expr) -> bool:
    """Whether the loop variable can hold any value of `e`, which does not overflow."""
    types = symbols(fn)
    found = spread(fn, site, e, types, LONG)
    least, most = limits(site.loop.type)
    return found is not None and least <= found[0] and found[1] <= most


def _type(e: Expr, types: dict[str, Scalar]) -> Scalar:
    return promote(type_of(e, types))


def _fixed(e: Expr) -> bool:
    """Whether it is a number that is the same in every type."""
    value = value_of(e)
    return value is not None and value >= 0


def _in_long(e: Expr, types: dict[str, Scalar]) -> Expr:
    if isinstance(e, Bin | Un | Const | Tile) or type_of(e, types).bytes == 8:
        return e
    return Cast(LONG, e)


def limits(t: Scalar) -> tuple[int, int]:
    """The least and the greatest value of an integer type."""
    bits = 8 * t.bytes
    return (0, (1 << bits) - 1) if t.is_unsigned else (-(1 << bits - 1), (1 << bits - 1) - 1)


def spread(  # noqa: C901
    fn: Function, site: LoopSite, e: Expr, types: dict[str, Scalar], kind: Scalar
) -> tuple[int, int] | None:
    """An interval that holds the value of `e`, None where computing it may overflow."""

    def inner(x: Expr) -> tuple[int, int] | None:
        return spread(fn, site, x, types, kind)

    if not isinstance(e, Bin | Un | Const | Tile):
        held = limits(type_of(e, types))
        inside = limits(type_of(e.operand, types)) if isinstance(e, Cast) else held
        return inside if held[0] <= inside[0] and inside[1] <= held[1] else held
    match e:
        case Bin(op, left, right):
            first, second = inner(left), inner(right)
        case Un(op, operand):
            first, second = (0, 0), inner(operand)
        case _:
            value = value_of(e) or 0
            return value, value
    if first is None or second is None:
        return None
    (low, high), (a, b) = first, second
    match op:
        case "+":
            found = low + a, high + b
        case "-":
            found = low - b, high - a
        case "*":
            corners = [x * y for x in first for y in second]
            found = min(corners), max(corners)
        case "min":
            found = min(low, a), min(high, b)
        case "max":
            found = max(low, a), max(high, b)
        case "/":
            found = _quotient(low, max(a, 1)), _quotient(high, max(a, 1))
            found = min(found[0], 0), max(found[1], 0)
        case "%":
            found = min(low, 0), max(high, 0)
        case _:
            return None
    least, most = limits(kind)
    if found[0] < least and always(fn, site.path, Bin(">=", e, Const(least, LONG))):
        found = least, found[1]
    if found[1] > most and always(fn, site.path, Bin("<=", e, Const(most, LONG))):
        found = found[0], most
    return found if least <= found[0] and found[1] <= most else None


def _quotient(x: int, y: int) -> int:
    """Rounded towards zero, as in C."""
    return x // y if x >= 0 else -(-x // y)
