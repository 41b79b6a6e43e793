"""Functions that do nothing unless a condition holds, as what they do where it does.

    if (n > 0 && alpha != 0) for (i...) S(i)    ->    for (i...) S(i), where n > 0 and alpha != 0
    if (n == 0 || alpha == 0) return; for ...

The condition is asked of the caller: where it does not hold, the user's own text runs, which does
nothing then.
"""

from __future__ import annotations

from dataclasses import replace

from loopxform.ir.affine import value_of
from loopxform.ir.nodes import Bin, Call, Cast, Const, Decl, Expr, For, Function, If, Select, Un
from loopxform.ir.types import Scalar
from loopxform.ir.typing import symbols, type_of
from loopxform.ir.visit import counters, declared, loads, names, walk, walk_expr, writes
from loopxform.transforms.edges.bounds import conjuncts


def with_assumed_condition(fn: Function) -> Function:
    """The function without a condition around all that it does."""
    inside = _around_all(fn)
    if inside is None:
        return fn
    own = tuple(s for s in fn.body if isinstance(s, Decl))
    asked = conjuncts(_without_negation(inside.cond))
    return replace(
        fn,
        body=(*own, *inside.then),
        assumes=tuple(dict.fromkeys((*fn.assumes, *asked))),
        as_written=fn.as_written or fn,
    )


def _around_all(fn: Function) -> If | None:
    """The one statement of the function, where it is a condition on scalars of the caller's around
    loops."""
    body = [s for s in fn.body if not isinstance(s, Decl)]
    only = body[0] if len(body) == 1 else None
    if not isinstance(only, If) or only.orelse:
        return None
    changed = writes(fn.body) | counters(fn) | declared(fn.body).keys()
    types = symbols(fn)
    exact = all(_means_the_same(x, types) for x in walk_expr(only.cond))
    if any(loads(only.cond)) or not exact or names(only.cond) & changed:
        return None
    return only if any(isinstance(s, For) for _, s in walk(only.then)) else None


def _means_the_same(e: Expr, types: dict[str, Scalar]) -> bool:
    """Whether the host finds what C does: it asks in a type in which no integer wraps around."""
    match e:
        case Call():
            return False
        case Bin("==" | "!=" | "<" | "<=" | ">" | ">=", left, right):
            sides = [x for x in (left, right) if value_of(x) is None or (value_of(x) or 0) < 0]
            return len({type_of(x, types).is_unsigned for x in sides}) <= 1
        case Bin("&&" | "||") | Un("!"):
            return True
        case Bin() | Un() | Cast() | Select():
            return type_of(e, types).is_integer and not type_of(e, types).is_unsigned
        case Const(value):
            return value == int(value)
        case _:
            return True


_NOT = {"==": "!=", "!=": "=="}


def _without_negation(e: Expr) -> Expr:
    """The same, as a conjunction where it is the negation of a disjunction."""
    match e:
        case Un("!", Un("!", operand)):
            return _without_negation(operand)
        case Un("!", Bin("||", left, right)):
            either = Un("!", left), Un("!", right)
            return Bin("&&", _without_negation(either[0]), _without_negation(either[1]))
        case Un("!", Bin(op, left, right)) if op in _NOT:
            return Bin(_NOT[op], left, right)
        case Bin("&&", left, right):
            return Bin("&&", _without_negation(left), _without_negation(right))
        case _:
            return e
