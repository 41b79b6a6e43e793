"""Conditions that tell the first iteration of a loop from the others."""

from __future__ import annotations

from collections.abc import Callable

from loopxform.ir.affine import poly, value_of
from loopxform.ir.nodes import Bin, Cast, Const, Expr, For, If, Select, Stmt, Un, Var
from loopxform.ir.types import HALF, Scalar, common, promote
from loopxform.ir.typing import type_of
from loopxform.ir.visit import map_body, map_stmt_exprs

SWAPPED = {"==": "==", "!=": "!=", "<": ">", ">": "<", "<=": ">=", ">=": "<="}


def is_first(loop: For, cond: Expr, types: dict[str, Scalar]) -> bool | None:
    """Whether a condition holds in the first iteration alone (True), or in all but that one
    (False); None for others."""
    match cond:
        case Var(name) if name == loop.var:
            return is_first(loop, Bin("!=", cond, Const(0)), types)
        case Un("!", operand):
            inner = is_first(loop, operand, types)
            return None if inner is None else not inner
        case Bin(op, left, right) if op in SWAPPED and right == Var(loop.var) != left:
            return is_first(loop, Bin(SWAPPED[op], right, left), types)
        case Bin(op, Var(name), right) if op in SWAPPED and name == loop.var:
            return _is_first(loop, op, right) if _compares(loop, right, types) else None
        case _:
            return None


def _compares(loop: For, end: Expr, types: dict[str, Scalar]) -> bool:
    """Whether the variable is compared with an end as numbers are, however far it counts."""
    own, start, kind = promote(loop.type), value_of(loop.lo), type_of(end, types)
    if kind.is_float or (start is None and type_of(loop.lo, types).bytes > loop.type.bytes):
        return False
    if own.is_unsigned or not common(own, kind).is_unsigned:
        return True
    return start is not None and start >= 0 and (value_of(loop.step) or 0) > 0


def not_first(loop: For) -> Expr:
    """The condition that an iteration is not the first one."""
    up = (value_of(loop.step) or 0) > 0
    return Bin(">" if up else "<", Var(loop.var), loop.lo)


def _is_first(loop: For, op: str, end: Expr) -> bool | None:
    step = value_of(loop.step)
    gap = (poly(end) - poly(loop.lo)).value
    if step is None or gap is None:
        return None
    if op in ("==", "!="):
        return op == "==" if gap == 0 else None
    up = step > 0
    further = gap if up else -gap
    if op in ((">", "<=") if up else ("<", ">=")):
        return op in ("<=", ">=") if 0 <= further < abs(step) else None
    return op in ("<", ">") if 0 < further <= abs(step) else None


def decided(
    body: tuple[Stmt, ...], loop: For, types: dict[str, Scalar], *, first: bool
) -> tuple[Stmt, ...]:
    """The body of a loop as the first iteration runs it, or the others do: without the conditions
    that tell them apart."""

    def plain(e: Expr) -> Expr:
        if isinstance(e, Select) and (holds := decide(e.cond)) is not None:
            return _alone(e, e.then if holds else e.orelse, types)
        return e

    def is_known(cond: Expr) -> bool | None:
        found = is_first(loop, cond, types)
        return None if found is None else found == first

    def decide(cond: Expr) -> bool | None:
        return decision(cond, is_known)

    def without(s: Stmt) -> tuple[Stmt, ...]:
        s = map_stmt_exprs(s, plain)
        holds = decide(s.cond) if isinstance(s, If) else None
        if not isinstance(s, If) or holds is None:
            return (s,)
        return s.then if holds else s.orelse

    return map_body(body, without)


def _alone(choice: Select, chosen: Expr, types: dict[str, Scalar]) -> Expr:
    """What a choice comes to, in the type that it has with the other operand."""
    kind, own = type_of(choice, types), type_of(chosen, types)
    if HALF in (kind, own) and kind != own:
        return choice
    return chosen if promote(own) == promote(kind) else Cast(kind, chosen)


def decision(cond: Expr, known: Callable[[Expr], bool | None]) -> bool | None:
    """What a condition is, by what is known of those that it is made of; None where that does not
    say."""
    match cond:
        case Const(value):
            return bool(value)
        case Un("!", operand):
            inner = decision(operand, known)
            return None if inner is None else not inner
        case Bin("&&" | "||" as op, left, right):
            a, b = decision(left, known), decision(right, known)
            if (op == "||") in (a, b):
                return op == "||"
            return None if a is None or b is None else op == "&&"
        case _:
            return known(cond)
