"""How many operations the user's own loops do at most, as C computes it from the scalars.

A device pays only where there is more to do than to start it. The bound is computed in double, in
which nothing overflows: for each loop the most iterations that it has for any values of the loops
around it, times what its body does. There is none where data say how often a loop runs, or a
function is called that may do anything.
"""

from __future__ import annotations

from collections.abc import Mapping

from loopxform.codegen import cexpr
from loopxform.codegen.cexpr import Dialect
from loopxform.ir.affine import to_expr, value_of
from loopxform.ir.functions import INTEGER, base_name
from loopxform.ir.nodes import (
    Bin,
    Call,
    Cast,
    Const,
    Decl,
    Expr,
    For,
    Function,
    If,
    Opaque,
    Stmt,
    Un,
    Var,
)
from loopxform.ir.typing import symbols
from loopxform.ir.visit import children, stmt_exprs, walk, writes
from loopxform.ir.whiles import condition
from loopxform.transforms.edges.bounds import trips_to

FUNCTION = 40
"""Operations of a math function."""

LONGEST = 2000
"""Characters of the bound: C compilers need not take lines of more than 4095."""

Interval = tuple[str, str]


def most_operations(fn: Function) -> str | None:
    """The bound as an expression of C, or None."""
    types = symbols(fn)
    set_inside = writes(fn.body) | {s.var for _, s in walk(fn.body) if isinstance(s, For)}
    d = Dialect("c", types)
    scalars = {
        p.name: cexpr.expr(Var(p.name), d)
        for p in fn.objects
        if not p.array and p.type.is_integer and p.name not in set_inside
    }
    known: dict[str, Interval] = {n: (f"(double){t}", f"(double){t}") for n, t in scalars.items()}
    text = _body(fn.body, known)
    return text if text is not None and len(text) <= LONGEST else None


def _body(body: tuple[Stmt, ...], known: Mapping[str, Interval]) -> str | None:
    operations, parts = 0, list[str]()
    for s in body:
        own = sum(map(_operations, stmt_exprs(s))) if not isinstance(s, For | Decl) else 1
        if own >= UNBOUNDED or isinstance(s, Opaque):
            return None
        operations += 1 + own
        inner: list[str | None] = []
        if isinstance(s, For):
            inner = [_loop(s, known)]
        elif isinstance(s, If):
            inner = [_body(s.then, known), _body(s.orelse, known)]
        if None in inner:
            return None
        parts += [x for x in inner if x and x != "0.0"]
    return " + ".join([f"{operations}.0", *parts]) if operations else "0.0"


def _loop(s: For, known: Mapping[str, Interval]) -> str | None:
    """Its iterations times what an iteration does."""
    count = trips_to(s, s.hi)
    if count is None or condition(s) is not None:
        return None
    most, ends = _interval(to_expr(count), known), [_interval(e, known) for e in (s.lo, s.hi)]
    if most is None or None in ends or len(most[1]) > LONGEST:
        return None
    (a, b), (c, d) = (x for x in ends if x is not None)
    body = _body(s.body, {**known, s.var: (_lesser(a, c), f"lx_greater({b}, {d})")})
    return None if body is None else f"lx_greater(0.0, {most[1]}) * ({body})"


def _lesser(a: str, b: str) -> str:
    return f"(-lx_greater(-{a}, -{b}))"


def _interval(e: Expr, known: Mapping[str, Interval]) -> Interval | None:
    """The least and the greatest value, in C."""
    number = value_of(e)
    if number is not None:
        text = f"{number}.0" if number >= 0 else f"({number}.0)"
        return text, text
    match e:
        case Var(name):
            return known.get(name)
        case Cast(_, inner):
            return _interval(inner, known)
        case Un("-", inner):
            inside = _interval(inner, known)
            return None if inside is None else (f"(-{inside[1]})", f"(-{inside[0]})")
        case Bin(op, left, right):
            return _combined(op, left, right, known)
        case _:
            return None


def _combined(op: str, left: Expr, right: Expr, known: Mapping[str, Interval]) -> Interval | None:
    a, b = _interval(left, known), _interval(right, known)
    if a is None or b is None:
        return None
    match op:
        case "+":
            return f"({a[0]} + {b[0]})", f"({a[1]} + {b[1]})"
        case "-":
            return f"({a[0]} - {b[1]})", f"({a[1]} - {b[0]})"
        case "min":
            return _lesser(a[0], b[0]), _lesser(a[1], b[1])
        case "max":
            return f"lx_greater({a[0]}, {b[0]})", f"lx_greater({a[1]}, {b[1]})"
        case "*" | "/":
            return _scaled(op, left, right, a, b)
        case _:
            return None


def _scaled(op: str, left: Expr, right: Expr, a: Interval, b: Interval) -> Interval | None:
    """Times or by a number, or a product of what has one value each. A quotient is rounded by less
    than one."""
    factor = value_of(right)
    if op == "*" and factor is None and value_of(left) is not None:
        return _scaled(op, right, left, b, a)
    if factor:
        least, most = (f"({x} {op} {factor}.0)" for x in (a if factor > 0 else a[::-1]))
        return (least, most) if op == "*" else (f"({least} - 1.0)", f"({most} + 1.0)")
    if op == "*" and a[0] == a[1] and b[0] == b[1]:
        return f"({a[0]} * {b[0]})", f"({a[0]} * {b[0]})"
    return None


UNBOUNDED = 1_000_000
"""Operations of a call that may do anything."""


def _operations(e: Expr) -> int:
    own = 1
    if isinstance(e, Call):
        known = base_name(e.name) is not None or e.name in INTEGER
        own = FUNCTION if known else UNBOUNDED
    elif isinstance(e, Const | Var | Un):
        own = 0
    return own + sum(map(_operations, children(e)))
