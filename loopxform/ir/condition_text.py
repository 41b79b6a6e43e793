"""Conditions on integers as text, as the printer writes them: `U % 4 == 0 && M <= 2147483647 / U`.

Read by Python's own parser, whose operators bind as those of C do, once `&&` and `||` are words.
"""

from __future__ import annotations

import ast
from functools import lru_cache, reduce

from loopxform.ir.nodes import Bin, Const, Expr, Var
from loopxform.ir.printer import expr_text

_OPERATORS: dict[type[ast.operator | ast.cmpop | ast.boolop], str] = {
    **{ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Mod: "%"},
    **{ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="},
    **{ast.And: "&&", ast.Or: "||"},
}
_JOINED = ("&&", "||")
_COMPARED = ("<", "<=", ">", ">=", "==", "!=")


def condition_text(e: Expr) -> str:
    """The condition in one word; `condition` reads it back."""
    return expr_text(e).replace(" ", "")


@lru_cache(maxsize=1024)
def condition(text: str) -> Expr:
    """The condition that a text means: comparisons of integers, joined. Raises ValueError."""
    try:
        tree = ast.parse(text.replace("&&", " and ").replace("||", " or ").strip(), mode="eval")
        e = _expr(tree.body)
    except (SyntaxError, RecursionError, MemoryError) as error:
        raise ValueError(text) from error
    if not _is_condition(e):
        raise ValueError(text)
    return e


def _is_condition(e: Expr) -> bool:
    match e:
        case Bin(op, left, right) if op in _JOINED:
            return _is_condition(left) and _is_condition(right)
        case Bin(op, left, right) if op in _COMPARED:
            return _is_number(left) and _is_number(right)
        case _:
            return False


def _is_number(e: Expr) -> bool:
    match e:
        case Bin(op, left, right):
            return op not in (*_JOINED, *_COMPARED) and _is_number(left) and _is_number(right)
        case _:
            return True


def _expr(node: ast.expr) -> Expr:
    match node:
        case ast.BoolOp(op, values):
            word = _OPERATORS[type(op)]
            return reduce(lambda a, b: Bin(word, a, b), map(_expr, values))
        case ast.Compare(left, [op], [right]) if type(op) in _OPERATORS:
            return Bin(_OPERATORS[type(op)], _expr(left), _expr(right))
        case ast.BinOp(left, op, right) if type(op) in _OPERATORS:
            return Bin(_OPERATORS[type(op)], _expr(left), _expr(right))
        case ast.Call(ast.Name("min" | "max" as name), [left, right], []):
            return Bin(name, _expr(left), _expr(right))
        case ast.UnaryOp(ast.USub(), ast.Constant(int() as value)) if type(value) is int:
            return Const(-value)
        case ast.Constant(int() as value) if type(value) is int:
            return Const(value)
        case ast.Name(name) | ast.Attribute(ast.Name(), name):
            return Var(ast.unparse(node))
        case _:
            raise ValueError(ast.unparse(node))
