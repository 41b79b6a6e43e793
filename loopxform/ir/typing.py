"""C types of expressions, and the types of everything a function declares."""

from __future__ import annotations

from typing import assert_never

from loopxform.ir.functions import result
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
from loopxform.ir.types import DOUBLE, FLOAT, INT, Scalar, common, promote
from loopxform.ir.visit import walk

COMPARISONS = frozenset(["<", ">", "<=", ">=", "==", "!=", "&&", "||"])


def symbols(fn: Function) -> dict[str, Scalar]:
    """The scalar or element type of every name in the function."""
    out = {p.name: p.type for p in fn.objects}
    for _, s in walk(fn.body):
        if isinstance(s, For):
            out.setdefault(s.var, s.type)
        elif isinstance(s, Decl):
            out[s.name] = s.type
    return out


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
            return common(type_of(then, types), type_of(orelse, types))
        case _:
            assert_never(e)
