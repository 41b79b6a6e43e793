"""C types of expressions, and the types of everything a function declares."""

from __future__ import annotations

from typing import assert_never

from loopxform.ir.functions import parameters, result
from loopxform.ir.memo import remembered
from loopxform.ir.nodes import (
    Bin,
    Call,
    Cast,
    Const,
    Decl,
    Expr,
    For,
    Function,
    Load,
    Select,
    Tile,
    Un,
    Var,
)
from loopxform.ir.routines import expressions, in_order
from loopxform.ir.routines import symbols as routine_symbols
from loopxform.ir.types import DOUBLE, FLOAT, HALF, INT, Scalar, common, promote
from loopxform.ir.visit import stmt_exprs, walk, walk_expr

COMPARISONS = frozenset(["<", ">", "<=", ">=", "==", "!=", "&&", "||"])


def symbols(fn: Function) -> dict[str, Scalar]:
    """The scalar or element type of every name in the function."""
    return dict(_symbols(fn))


@remembered(256)
def _symbols(fn: Function) -> dict[str, Scalar]:
    out = {p.name: p.type for p in fn.objects}
    for _, s in walk(fn.body):
        if isinstance(s, For):
            out.setdefault(s.var, s.type)
        elif isinstance(s, Decl):
            out[s.name] = s.type
    return out


def all_types(fn: Function) -> set[Scalar]:
    """The types of all objects, literals, casts and calls of a function and of its routines."""
    whole = [e for _, s in walk(fn.body) for e in stmt_exprs(s)]
    whole += [e for p in fn.globals for e in p.values]
    called = in_order(fn.routines)
    parts = [x for e in whole for x in walk_expr(e)] + [e for r in called for e in expressions(r)]
    out = {*symbols(fn).values(), *(t for r in called for t in routine_symbols(r).values())}
    out |= {r.returns for r in called}
    out |= {type_of(e, {}) for e in parts if isinstance(e, Const | Cast | Call)}
    return out | {t for e in parts if isinstance(e, Call) for t in parameters(e.name) or ()}


def type_of(e: Expr, types: dict[str, Scalar]) -> Scalar:
    """The C type of `e`. Calls: the type `functions` gives, else by the suffix."""
    match e:
        case Const():
            return e.type
        case Tile():
            return INT
        case Var(name):
            return types[name]
        case Load(array, _):
            return types[array]
        case Bin("<<" | ">>", left, _):
            return promote(type_of(left, types))
        case Bin(op, left, right):
            if op in COMPARISONS:
                return INT
            return common(type_of(left, types), type_of(right, types))
        case Un("!", _):
            return INT
        case Un(_, operand):
            return promote(type_of(operand, types))
        case Cast(type, _):
            return type
        case Call(name, _):
            return e.type or result(name) or (FLOAT if name.endswith("f") else DOUBLE)
        case Select(_, then, orelse):
            found = type_of(then, types), type_of(orelse, types)
            return HALF if found == (HALF, HALF) else common(*found)
        case _:
            assert_never(e)


def is_half(e: Expr, types: dict[str, Scalar]) -> bool:
    """Whether C gives `e` the type _Float16, in whatever format it is evaluated."""
    match e:
        case Bin(op, left, right) if op not in COMPARISONS and type_of(e, types) == FLOAT:
            sides = [left, right]
        case Select(_, then, orelse) if type_of(e, types) == FLOAT:
            sides = [then, orelse]
        case Un("-" | "+", operand):
            return is_half(operand, types)
        case _:
            return type_of(e, types) == HALF
    found = [is_half(x, types) for x in sides]
    return any(found) and all(h or type_of(x, types).is_integer for h, x in zip(found, sides))
