"""Conditions on integers as text, as the printer writes them: `U % 4 == 0 && M <= 2147483647 / U`.

Read by Python's own parser, whose operators bind as those of C do, once `&&` and `||` are words.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache, reduce

from loopxform.ir.affine import Monomial, Poly, poly
from loopxform.ir.nodes import Bin, Const, Expr, Var
from loopxform.ir.printer import expr_text
from loopxform.ir.types import LLONG
from loopxform.ir.visit import names, walk_expr

_OPERATORS: dict[type[ast.operator | ast.cmpop | ast.boolop], str] = {
    **{ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Mod: "%"},
    **{ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="},
    **{ast.And: "&&", ast.Or: "||"},
}
_LARGEST = 1 << 31
_MOST = (1 << 63) - 1
"""What parameters may come to, and what the host computes affine conditions in."""

_LONG = re.compile(r"\b(\d+)LL\b")
_JOINED = ("&&", "||")
_COMPARED = ("<", "<=", ">", ">=", "==", "!=")


def long_constant(value: int) -> Const:
    """A number that products are computed with in 64 bits: `835LL`."""
    return Const(value, LLONG, f"{value}LL")


def condition_text(e: Expr) -> str:
    """The condition in one word; `condition` reads it back."""
    return expr_text(e).replace(" ", "")


@lru_cache(maxsize=1024)
def condition(text: str) -> Expr:
    """The condition that a text means: comparisons of integers, joined. Raises ValueError for
    anything else, and for numbers that 64 bits would not hold."""
    try:
        words = _LONG.sub(r"LL(\1)", text).replace("&&", " and ").replace("||", " or ")
        tree = ast.parse(words.strip(), mode="eval")
        e = _expr(tree.body)
    except (SyntaxError, RecursionError, MemoryError) as error:
        raise ValueError(text) from error
    if not _is_condition(e) or any(_most(x) > _MOST for x in walk_expr(e) if _is_affine(x)):
        raise ValueError(text)
    return e


def is_readable(e: Expr) -> bool:
    """Whether `condition` reads back the text of a number, such as that of a loop's iterations."""
    try:
        condition(condition_text(Bin(">=", e, Const(0))))
    except ValueError:
        return False
    return True


def divides_by_zero(e: Expr, known: Iterable[Expr]) -> bool:
    """Whether the host may divide by 0 when it asks a condition, where those `known` hold."""
    least = _lower_bounds(part for k in known for part in _conjuncts(k))
    divisions = (x for x in walk_expr(e) if isinstance(x, Bin) and x.op in ("/", "%"))
    return any((_least(x.right, least) or 0) < 1 for x in divisions)


_Terms = frozenset[tuple[Monomial, int]]
"""Those of a polynomial, but for its constant."""


def _lower_bounds(known: Iterable[Expr]) -> dict[_Terms, int]:
    """What the terms of sums are at least: `N + 1 >= 1` says so of N."""
    least: dict[_Terms, int] = {}
    for e in known:
        if isinstance(e, Bin) and e.op in (">=", ">"):
            terms, rest = _parted(poly(e.left) - poly(e.right))
            least[terms] = max(least.get(terms, -_MOST), (e.op == ">") - rest)
    return least


def _parted(p: Poly) -> tuple[_Terms, int]:
    """The terms and the constant of a polynomial."""
    return frozenset(t for t in p.terms if t[0]), sum(c for m, c in p.terms if not m)


def _least(e: Expr, known: Mapping[_Terms, int]) -> int | None:
    """A number that a value is not below; None where none is known."""
    terms, rest = _parted(poly(e))
    if not terms or terms in known:
        return known.get(terms, 0) + rest
    match e:
        case Bin("max", left, right):
            ends = [x for x in (_least(left, known), _least(right, known)) if x is not None]
            return max(ends, default=None)
        case Bin("+" | "*" | "/" as op, left, right):
            a, b = _least(left, known), _least(right, known)
            if a is None or b is None or (op != "+" and min(a, b) < 0):
                return None
            if op == "/":
                return a // int(right.value) if isinstance(right, Const) and b else 0
            return a + b if op == "+" else a * b
        case _:
            return None


def _conjuncts(e: Expr) -> Iterator[Expr]:
    if isinstance(e, Bin) and e.op == "&&":
        yield from (*_conjuncts(e.left), *_conjuncts(e.right))
    else:
        yield e


def _is_affine(e: Expr) -> bool:
    """Whether analysis may compute with it: no product of two parameters."""
    products = (x for x in walk_expr(e) if isinstance(x, Bin) and x.op == "*")
    return not any(names(x.left) and names(x.right) for x in products)


def _most(e: Expr) -> int:
    """The largest magnitude of a value, of parameters within int."""
    match e:
        case Const(value):
            return abs(int(value))
        case Bin("*", left, right):
            return _most(left) * _most(right)
        case Bin("/" | "%", left, _):
            return _most(left)
        case Bin("min" | "max", left, right):
            return max(_most(left), _most(right))
        case Bin("+" | "-", left, right):
            return _most(left) + _most(right)
        case Var():
            return _LARGEST
        case _:
            return 0


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
        case ast.Call(ast.Name("LL"), [ast.Constant(int() as value)], []):
            return long_constant(value)
        case ast.UnaryOp(ast.USub(), ast.Constant(int() as value)) if type(value) is int:
            return Const(-value)
        case ast.Constant(int() as value) if type(value) is int:
            return Const(value)
        case ast.Name(name) | ast.Attribute(ast.Name(), name):
            return Var(ast.unparse(node))
        case _:
            raise ValueError(ast.unparse(node))
