"""What an inspector notes: how far subscripts reach, and whether one is below 0.

Where subscripts are linear in a loop variable, its first and its last iteration say all.
"""

from __future__ import annotations

from loopxform.ir.affine import value_of
from loopxform.ir.nodes import (
    Assign,
    Bin,
    Cast,
    Const,
    Decl,
    Expr,
    For,
    If,
    Load,
    Stmt,
    Var,
)
from loopxform.ir.types import LLONG
from loopxform.ir.visit import names, stmt_exprs, substitute_body

ENDS = "lx_ends"
"""What the inspector fills: whether a subscript is below 0, then one end for each array, then the
first element that is touched of each: a pointer may have been set back to count from 1."""

UNTOUCHED = Const(2**62, LLONG)

_AT = "lx_at"


def prologue(arrays: dict[str, int]) -> tuple[Stmt, ...]:
    """That nothing of the arrays is touched yet."""
    zero, many = Const(0, LLONG), len(arrays)
    return (
        Decl(_AT, LLONG),
        *(Assign(_result(n), zero) for n in range(many + 1)),
        *(Assign(_result(n), UNTOUCHED) for n in range(many + 1, 2 * many + 1)),
    )


def _result(n: int) -> Load:
    return Load(ENDS, (Const(n),))


def noted(n: int, index: Expr, many: int) -> tuple[Stmt, ...]:
    """That an element of the array with the number `n` of `many` is touched."""
    at = Var(_AT)
    return (
        Assign(at, Cast(LLONG, index)),
        If(Bin("<", at, Const(0)), (Assign(_result(0), Const(1, LLONG)),)),
        If(Bin("<=", _result(n), at), (Assign(_result(n), Bin("+", at, Const(1))),)),
        If(Bin(">", _result(many + n), at), (Assign(_result(many + n), at),)),
    )


def asked(s: Stmt) -> tuple[Expr, ...]:
    """What a statement of the inspector reads of the program."""
    match s:
        case Assign(Load(), _):
            return ()  # what is noted is not the program's
        case Assign(Var(name), value) if name == _AT:
            return (value,)
        case If(cond) if names(cond) <= {_AT, ENDS}:
            return ()
        case _:
            return stmt_exprs(s)


def at_ends(s: For, inner: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
    """What the first and the last iteration note, where it is more than any other one; else
    nothing."""
    is_plain = value_of(s.step) == 1 and s.asks is None
    if not is_plain or not all(_is_monotone(x, s.var) for x in inner):
        return ()
    last: Expr = Bin("-", s.hi, Const(1))
    ends = (substitute_body(inner, {s.var: e}) for e in (s.lo, last))
    return (If(Bin("<", s.lo, s.hi), tuple(x for part in ends for x in part)),)


def _is_monotone(s: Stmt, var: str) -> bool:
    """Whether it notes an index that is linear in `var`, under conditions without `var`."""
    match s:
        case Assign(Var(name), Cast(_, index)) if name == _AT:
            return _degree(index, var) <= 1
        case If(cond, (Assign(Load()),), ()) if names(cond) <= {_AT, ENDS}:
            return True
        case If(cond, then, ()) if var not in names(cond):
            return all(_is_monotone(x, var) for x in then)
        case _:
            return False


def _degree(e: Expr, var: str) -> int:
    """0 without `var`, 1 where it is linear in it, 2 for anything else."""
    match e:
        case Var(name):
            return int(name == var)
        case Bin("+" | "-", left, right):
            return max(_degree(left, var), _degree(right, var))
        case Bin("*", left, right):
            return min(2, _degree(left, var) + _degree(right, var))
        case Cast(type, operand) if type.is_integer and type.bytes >= LLONG.bytes:
            return _degree(operand, var)
        case _:
            return 2 * int(var in names(e))
