"""Amounts as C computes them from the scalars, in double: nothing overflows."""

from __future__ import annotations

from collections.abc import Mapping

from loopxform.ir.affine import value_of
from loopxform.ir.nodes import Bin, Cast, Expr, For, Select, Un, Var


class Unbounded(Exception):
    """There is no formula."""


def value(e: Expr, known: Mapping[str, str]) -> str:
    """An integer in double; a quotient is not rounded, and of alternatives the greater one counts.
    Raises Unbounded."""
    number = value_of(e)
    if number is not None:
        return literal(number)
    match e:
        case Var(name) if name in known:
            return known[name]
        case Cast(_, inner):
            return value(inner, known)
        case Un("-", inner):
            return times("-1", value(inner, known))
        case Bin(op, left, right):
            return _combined(op, value(left, known), value(right, known))
        case Select(cond, then, orelse):
            op = "min" if _is_least(cond, then, orelse) else "max"
            return _combined(op, value(then, known), value(orelse, known))
        case _:
            raise Unbounded


def _is_least(cond: Expr, then: Expr, orelse: Expr) -> bool:
    """Whether `cond ? then : orelse` is the lesser of the two."""
    match cond:
        case Bin("<" | "<=", left, right):
            return (left, right) == (then, orelse)
        case Bin(">" | ">=", left, right):
            return (right, left) == (then, orelse)
        case _:
            return False


def _combined(op: str, a: str, b: str) -> str:
    match op:
        case "+":
            return total(a, b)
        case "-":
            return total(a, times("-1", b))
        case "*":
            return times(a, b)
        case "/":
            return _quotient(a, b)
        case "max":
            return a if a == b else f"lx_greater({a}, {b})"
        case "min":
            return f"-lx_greater({times('-1', a)}, {times('-1', b)})"
        case _:
            raise Unbounded


def _quotient(a: str, b: str) -> str:
    """Where the divisor is 0, C may compute neither."""
    if not is_literal(b):
        return f"{a} / lx_greater(1, {b})"
    return times(literal(1 / float(b)), a) if float(b) else "0"


def end(s: For, known: Mapping[str, str]) -> str:
    """The last value of the counter."""
    step = value_of(s.step) or 1
    return total(value(s.hi, known), literal(-1 if step > 0 else 1))


def literal(x: float) -> str:
    return f"{x:.12g}"


def is_literal(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def total(*terms: str) -> str:
    """Numbers are added up, and 0 is left out."""
    known = sum(float(x) for x in terms if is_literal(x))
    rest = [x for x in terms if not is_literal(x)]
    if known or not rest:
        rest.append(literal(known))
    return rest[0] if len(rest) == 1 else f"({' + '.join(rest)})".replace("+ -", "- ")


def times(a: str, b: str) -> str:
    (x, left), (y, right) = _factors(a), _factors(b)
    rest = [t for t in (left, right) if t]
    if x * y in (0, 1) and rest:
        return "0" if x * y == 0 else " * ".join(rest)
    return " * ".join([literal(x * y), *rest])


def _factors(text: str) -> tuple[float, str]:
    """The number that a product begins with, and the rest."""
    first, _, rest = text.partition(" * ")
    return (float(first), rest) if is_literal(first) else (1.0, text)


def least(a: str, b: str) -> str:
    """The lesser one."""
    if is_literal(a) and is_literal(b):
        return a if float(a) < float(b) else b
    return _combined("min", a, b)
