"""The text of conditions, and of their opposites."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from loopxform.analysis.idioms.flow import Guard
from loopxform.analysis.scope import Names
from loopxform.ir.nodes import Bin, Const, Expr, Load, Un, Var
from loopxform.ir.printer import expr_text

_OPPOSITE = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}


def said_of(guards: Iterable[Guard], types: Names) -> str:
    """What holds where all of some branches are taken."""
    asked = (g for g in guards if not isinstance(g.cond, Const))
    return " && ".join(_text(g.cond, types) if g.holds else opposite(g.cond, types) for g in asked)


def conjuncts(e: Expr) -> Iterator[Expr]:
    """The conditions that hold together where `e` does."""
    match e:
        case Bin("&&", left, right):
            yield from conjuncts(left)
            yield from conjuncts(right)
        case _:
            yield e


def _text(e: Expr, types: Names) -> str:
    match e:
        case Un("!", Bin() as operand):
            return opposite(operand, types)
        case _:
            return expr_text(e)


def opposite(e: Expr, types: Names) -> str:
    """The text of a condition that holds where `e` does not."""
    match e:
        case Un("!", operand):
            return expr_text(operand)
        case Var() | Load():
            return f"{expr_text(e)} == 0"
        case Bin(op, left, right) if op in ("==", "!=") or (
            op in _OPPOSITE and _are_integers((left, right), types)
        ):
            return expr_text(Bin(_OPPOSITE[op], left, right))
        case _:
            return f"!({expr_text(e)})"


def _are_integers(found: Iterable[Expr], types: Names) -> bool:
    """Whether none of them may be NaN, of which neither comparison holds."""
    known = [types.type_of(e) for e in found]
    return all(type is not None and type.is_integer for type in known)
