"""What loops do to scalars that run through them: updates that can be composed before the scalar is
known.

    s = s op e, s = e op s       + * & | ^ min max, extrema by conditions too
    s = m*s + e                  linear, also with signs and products on either side
    s = (e - m*s) / d            the same of real numbers
    s = e                        the scalar begins anew
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Literal, TypeAlias

from loopxform.analysis.conversions import order_hidden
from loopxform.analysis.reductions import update_at
from loopxform.ir.nodes import (
    Assign,
    Bin,
    Cast,
    Const,
    Decl,
    Expr,
    For,
    Function,
    If,
    Stmt,
    Un,
    Var,
)
from loopxform.ir.printer import expr_text
from loopxform.ir.types import BOOL, UINT, ULONG, Scalar
from loopxform.ir.typing import symbols, type_of
from loopxform.ir.visit import Path, at, names, stmt_exprs
from loopxform.records import record
from loopxform.source import Loc

Form: TypeAlias = Literal["op", "linear", "set"]

OPERATORS = frozenset(["+", "*", "&", "|", "^", "min", "max"])

WHOLE = 4
"""Bytes of an int: what counts with less may wrap around."""


@record
class RunningUpdate:
    """The statement at `path` makes `s op value`, `factor*s + value` (0 where `value` is None), or
    `value` of s."""

    path: Path
    form: Form
    op: str
    value: Expr | None
    factor: Expr | None = None

    @property
    def operands(self) -> tuple[Expr, ...]:
        return tuple(e for e in (self.value, self.factor) if e is not None)


@record
class RunningValue:
    """A scalar that runs through a loop. `op` is the operator of its updates: "" where all of them
    set it, "linear" where sums and products are mixed. `restarts` says that some set it. Iterations
    use its value where it is `used`."""

    var: str
    op: str
    updates: tuple[RunningUpdate, ...]
    restarts: bool
    used: bool
    loc: Loc | None


def running_values(
    fn: Function, loop: For, statements: Sequence[tuple[Path, Stmt]]
) -> Iterator[RunningValue]:
    """The scalars from outside that the loop does nothing to but update."""
    local = {s.name for _, s in statements if isinstance(s, Decl)}
    local |= {s.var for _, s in statements if isinstance(s, For)} | {loop.var}
    targets = (s.target for _, s in statements if isinstance(s, Assign))
    every = dict.fromkeys(t.name for t in targets if isinstance(t, Var) and t.name not in local)
    header = names(loop.lo) | names(loop.hi) | names(loop.step)
    for name in every:
        updates = _updates(fn, statements, name)
        if not updates or name in header:
            continue
        forms = {u.form for u in updates} - {"set"}
        ops = {u.op for u in updates if u.form == "op"}
        ring = "linear" in forms or len(ops) > 1
        if ring and not ops <= {"+", "*"}:
            continue
        op = "linear" if ring else next(iter(ops), "")
        own = {p for u in updates for p in places(fn, u.path)}
        used = any(name in names(e) for p, s in statements if p not in own for e in stmt_exprs(s))
        restarts = any(u.form == "set" for u in updates)
        loc = at(fn, updates[0].path).origin.loc
        yield RunningValue(name, op, updates, restarts, used, loc)


def unlike_updates(
    loop: For, statements: Sequence[tuple[Path, Stmt]], running: Collection[str] = ()
) -> tuple[str, Loc | None, str] | None:
    """What a loop makes of a scalar from outside and its old value, of those that are not running
    values; where, and what could be composed."""
    local = {*running} | {s.name for _, s in statements if isinstance(s, Decl)}
    local |= {s.var for _, s in statements if isinstance(s, For)} | {loop.var}
    for _, s in statements:
        target = s.target if isinstance(s, Assign) else None
        if isinstance(s, Assign) and isinstance(target, Var) and target.name not in local:
            value = Bin(s.op, target, s.value) if s.op else s.value
            if target.name in names(value):
                updates = [x for _, x in statements if isinstance(x, Assign) and x.target == target]
                what = f"'{target.name}' becomes {expr_text(value)}, which"
                if len(updates) > 1:
                    what = f"what several statements make of '{target.name}' together"
                remedy = "sums, products, bits, extrema and m*s + e of what is free of s can"
                return f"{what} cannot be computed in parts", s.origin.loc, remedy
    return None


def places(fn: Function, path: Path) -> tuple[Path, ...]:
    """A statement and, of a condition that finds an extremum, the assignment in it."""
    return (path, (*path, 0)) if isinstance(at(fn, path), If) else (path,)


def _updates(
    fn: Function, statements: Sequence[tuple[Path, Stmt]], name: str
) -> tuple[RunningUpdate, ...]:
    """All that the statements do to a scalar; () where that is more than updates."""
    found: list[RunningUpdate] = []
    inside: set[Path] = set()
    for place, s in statements:
        if place in inside:
            continue
        update = _update(fn, place, s, name)
        if update is not None:
            found.append(update)
            inside.update(places(fn, place)[1:])
        elif isinstance(s, Assign) and s.target == Var(name):
            return ()
    return tuple(found)


def _update(fn: Function, place: Path, s: Stmt, name: str) -> RunningUpdate | None:
    known = update_at(place, s)
    if known is not None and known.target == Var(name) and known.op in OPERATORS:
        fits = _converts(fn, name, known.op, known.value)
        factor = _factor_and_rest(fn, known.stmt, name)[0] if known.op == "*" else None
        return RunningUpdate(place, "op", known.op, known.value, factor) if fits else None
    if not isinstance(s, Assign) or s.target != Var(name):
        return None
    if not s.op and name not in names(s.value):
        return RunningUpdate(place, "set", "", s.value)
    factor, rest = _factor_and_rest(fn, s, name)
    if factor is None:
        return None
    fits = _converts(fn, name, "+", Bin(s.op, s.target, s.value) if s.op else s.value)
    return RunningUpdate(place, "linear", "linear", rest, factor) if fits else None


def _converts(fn: Function, name: str, op: str, e: Expr) -> bool:
    """Whether no conversion to the type of the scalar shows in which order updates happen."""
    types = symbols(fn)
    own = types[name]
    if own is BOOL:
        return False
    return order_hidden(op, own, type_of(e, types), e)


def _factor_and_rest(fn: Function, s: Assign, name: str) -> tuple[Expr | None, Expr | None]:
    """m and b of an assignment of m*s + b; no m where it is not linear in s. m is computed in a
    type as wide as that of s, in which s is multiplied by its factors."""
    own = symbols(fn)[name]
    wide = own if own.is_float else UINT if own.bytes <= WHOLE else ULONG
    value = Bin(s.op, s.target, s.value) if s.op else s.value
    factor, rest = _linear(value, name, wide) or (None, None)
    return factor.operand if isinstance(factor, Cast) else factor, rest


def _linear(e: Expr, name: str, wide: Scalar) -> tuple[Expr | None, Expr | None] | None:
    """m and b of an expression m*s + b, None for 0; None where it is not linear in s."""
    if name not in names(e):
        return None, e
    match e:
        case Var():
            return Const(1), None
        case Un("-", operand):
            inner = _linear(operand, name, wide)
            return inner and (_negative(inner[0]), _negative(inner[1]))
        case Bin("+" | "-" as op, left, right):
            a, b = _linear(left, name, wide), _linear(right, name, wide)
            if a is None or b is None:
                return None
            return _sum(op, a[0], b[0]), _sum(op, a[1], b[1])
        case Bin("*", left, right) if name not in names(left) or name not in names(right):
            other, inside = (left, right) if name in names(right) else (right, left)
            inner = _linear(inside, name, wide)
            factor = Cast(wide, other)
            return inner and (_product(inner[0], factor), _product(inner[1], other))
        case Bin("/", left, right) if wide.is_float and name not in names(right):
            inner = _linear(left, name, wide)
            return inner and (
                _quotient(inner[0], Cast(wide, right), wide),
                _quotient(inner[1], right, wide),
            )
        case _:
            return None


def _negative(e: Expr | None) -> Expr | None:
    return None if e is None else Un("-", e)


def _sum(op: str, a: Expr | None, b: Expr | None) -> Expr | None:
    if a is None or b is None:
        return a if b is None else b if op == "+" else Un("-", b)
    return Bin(op, a, b)


def _quotient(a: Expr | None, b: Expr, wide: Scalar) -> Expr | None:
    """A quotient of real numbers, as where the terms are not yet apart."""
    if a is None:
        return None
    return Bin("/", Const(1.0, wide) if a == Const(1) else Cast(wide, a), b)


def _product(a: Expr | None, b: Expr) -> Expr | None:
    return None if a is None else b if a == Const(1) else Bin("*", a, b)
