"""Subscripts as integers of mathematics, and where C's arithmetic would differ from them.

Signed overflow is undefined in C, and what unsigned `+ - *` may do is marked later (`wraparound`).
Under division, remainder, shifts and comparisons a wrapped difference of unsigned operands is
refused here, with the place.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from pycparser import c_ast

from loopxform.frontend.lower.refusal import NotModelled
from loopxform.ir.affine import value_of
from loopxform.ir.nodes import Bin, Cast, Const, Expr, Load, Un, Var
from loopxform.ir.types import INT, LONG, Scalar, common
from loopxform.ir.typing import COMPARISONS, type_of
from loopxform.ir.visit import children, map_expr, walk_expr

Types = dict[str, Scalar]

_SIGNED = "make the operands signed (int or long)"


def subscript(terms: list[tuple[int, Expr, c_ast.Node]], types: Types) -> Expr:
    """The sum of the terms of one dimension, as an integer of mathematics."""
    out: Expr | None = None
    for sign, e, node in terms:
        e = integer(e, types, node)
        if out is None:
            out = e if sign > 0 else Un("-", e)
        else:
            out = Bin("+" if sign > 0 else "-", out, e)
    return Const(0) if out is None else out


def integer(e: Expr, types: Types, node: c_ast.Node) -> Expr:
    """An expression as an integer of mathematics. Raises NotModelled where it is none."""
    check_wrap(e, types, node)
    return _widen(e, types, node)


def _widen(e: Expr, types: Types, node: c_ast.Node) -> Expr:
    """Casts that only widen are made signed."""
    match e:
        case Bin("+" | "-" | "*" as op, left, right):
            return Bin(op, _widen(left, types, node), _widen(right, types, node), origin=e.origin)
        case Un("-" | "+" as op, operand):
            return Un(op, _widen(operand, types, node), origin=e.origin)
        case Cast(t, operand):
            inner = type_of(operand, types)
            if not inner.is_integer or not keeps(inner, t):
                return _narrowed(e, inner, node)
            wide = LONG if t.bytes == 8 else t
            return Cast(wide, _widen(operand, types, node), origin=e.origin)
        case _:
            return e


def keeps(inner: Scalar, t: Scalar) -> bool:
    """Whether a conversion between integers keeps the value; of 64 bits, as far as subscripts can
    tell, which wrap around as addresses do."""
    flips = t.bytes == inner.bytes < 8 and inner.is_unsigned != t.is_unsigned
    return t.bytes >= inner.bytes and not flips


def _narrowed(e: Cast, inner: Scalar, node: c_ast.Node) -> Expr:
    """A cast that may change the value: kept whole, so that no arithmetic looks through it."""
    if inner.is_float and isinstance(e.operand, Var | Load):
        return e
    if inner.is_float:
        return Cast(e.type, Cast(inner, e.operand, origin=e.origin), origin=e.origin)
    help = "declare the variable with the narrower type"
    raise NotModelled("LX019", f"a cast to {e.type} may change the subscript", help, node)


def check_wrap(e: Expr, types: Types, node: c_ast.Node) -> None:
    """NotModelled where a difference of unsigned numbers decides a quotient or a comparison."""
    for x in walk_expr(e):
        if isinstance(x, Load):
            continue
        exact = isinstance(x, Bin) and x.op in ("+", "-", "*", "&&", "||")
        exact = exact or (isinstance(x, Un) and x.op in "+-!")
        if exact or isinstance(x, Cast):
            continue
        for operand in children(x):
            if wraps(operand, types) and not any(isinstance(y, Load) for y in walk_expr(operand)):
                reason = "an unsigned difference may wrap around below zero"
                raise NotModelled("LX019", reason, _SIGNED, node)


def check_condition(e: Expr, types: Types, node: c_ast.Node) -> None:
    """As check_wrap, and refuses comparisons of a signed with an unsigned number, but for those
    that a comparison before them says not to be negative: `i >= 0 && i < n`."""
    check_wrap(e, types, node)
    _check_signs(e, frozenset(), types, node)


def _check_signs(e: Expr, known: frozenset[Expr], types: Types, node: c_ast.Node) -> None:
    """Refuses such comparisons where numbers that are `known` are not negative."""
    if isinstance(e, Bin) and e.op in ("&&", "||"):
        _check_signs(e.left, known, types, node)
        found = _not_negative(e.left, holds=e.op == "&&")
        _check_signs(e.right, known.union(found), types, node)
        return
    for x in walk_expr(e):
        if isinstance(x, Bin) and x.op in COMPARISONS - {"&&", "||"}:
            if any(isinstance(y, Load) for y in walk_expr(x)):
                continue
            for side, other in ((x.left, x.right), (x.right, x.left)):
                if side not in known and _turns_unsigned(side, other, types):
                    reason = "a signed number is compared as unsigned"
                    raise NotModelled("LX019", reason, "compare numbers of one sign", node)


_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


def _not_negative(e: Expr, *, holds: bool) -> Iterator[Expr]:
    """The numbers that a condition says not to be below 0 where it holds, or where it does not."""
    match e:
        case Bin("&&" | "||" as op, left, right) if (op == "&&") == holds:
            yield from _not_negative(left, holds=holds)
            yield from _not_negative(right, holds=holds)
        case Un("!", operand):
            yield from _not_negative(operand, holds=not holds)
        case Bin("<" | "<=" | ">" | ">=" as op, left, right):
            for said, x, limit in ((op, left, right), (_MIRRORED[op], right, left)):
                end = value_of(limit)
                least = None if end is None else end + (said in (">", "<="))
                if least is not None and least >= 0 and (said in (">", ">=")) == holds:
                    yield x


def _turns_unsigned(side: Expr, other: Expr, types: Types) -> bool:
    """Whether a possibly negative `side` is converted to the unsigned type of `other`."""
    s, o = type_of(side, types), type_of(other, types)
    if not (s.is_integer and o.is_integer) or s.is_unsigned or not o.is_unsigned:
        return False
    if isinstance(side, Const) and side.value >= 0:
        return False
    return o.bytes >= max(s.bytes, INT.bytes)


def as_compared(e: Expr, types: Types) -> Expr:
    """A condition with the conversions that C does where it compares a signed with an unsigned
    number (C11 6.3.1.8)."""

    def converted(x: Expr) -> Expr:
        if not isinstance(x, Bin) or x.op not in COMPARISONS - {"&&", "||"}:
            return x
        left, right = type_of(x.left, types), type_of(x.right, types)
        if _turns_unsigned(x.left, x.right, types):
            return replace(x, left=Cast(common(left, right), x.left))
        if _turns_unsigned(x.right, x.left, types):
            return replace(x, right=Cast(common(left, right), x.right))
        return x

    return map_expr(e, converted)


def wraps(e: Expr, types: Types) -> bool:
    """Whether `e` holds a difference (or negation) computed in an unsigned type."""
    for x in walk_expr(e):
        minus = (isinstance(x, Bin) and x.op == "-") or (isinstance(x, Un) and x.op in "-~")
        if minus and not isinstance(x, Const):
            t = type_of(x, types)
            if t.is_unsigned and t.is_integer and t.bytes >= INT.bytes:
                return True
    return False
