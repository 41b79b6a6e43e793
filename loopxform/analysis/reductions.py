"""Reductions at a loop: `s = s op e` with op associative and commutative, s used for nothing else.

    recognised: s += e, s -= e, s *= e, s = s op e, s = e op s   (op: + * & | ^ && ||)
                s = fmin(s, e), s = e < s ? e : s (each orientation), if (e < s) s = e
    where e does not read s, and every other access of s in the loop is such an update with the
    same op; s is a scalar or an array element whose subscripts do not change with the loop.

An integer s with a floating e is not one: the conversion back rounds at each step.
"""

from __future__ import annotations

from dataclasses import dataclass

from loopxform.analysis.domain import names_of
from loopxform.analysis.scope import below, gather
from loopxform.ir.nodes import (
    Assign,
    Bin,
    Call,
    Copy,
    Decl,
    Expr,
    For,
    Function,
    If,
    Load,
    Opaque,
    Select,
    Stmt,
    Var,
)
from loopxform.ir.printer import expr_text
from loopxform.ir.visit import Path, enclosing, names, stmt_exprs
from loopxform.source import Loc

OPERATORS = frozenset(["+", "*", "&", "|", "^", "&&", "||"])


@dataclass(frozen=True, slots=True)
class Reduction:
    """An update that may be applied in any order; `var` is the text of the target, `array` its
    name, `paths` its statements (the guard of a conditional min/max included)."""

    var: str
    array: str
    op: str
    labels: tuple[str, ...]
    loc: Loc | None
    paths: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class _Update:
    target: Var | Load
    op: str
    value: Expr
    stmt: Assign
    paths: tuple[Path, ...]


_recent: dict[tuple[int, Path], tuple[Function, tuple[Reduction, ...]]] = {}


def reductions(fn: Function, path: Path) -> tuple[Reduction, ...]:
    """The reductions of the loop at `path`, in text order; remembered."""
    known = _recent.get((id(fn), path))
    if known and known[0] is fn:
        return known[1]
    if len(_recent) > 256:
        _recent.clear()
    found = _reductions(fn, path)
    _recent[id(fn), path] = (fn, found)
    return found


def _reductions(fn: Function, path: Path) -> tuple[Reduction, ...]:
    loop = enclosing(fn, path)[-1]
    assert isinstance(loop, For)
    statements = list(below(loop, path))
    if any(isinstance(s, Opaque) for _, s in statements):
        return ()
    updates: dict[str, list[_Update]] = {}
    used: set[str] = set(_header_names(loop))
    inside: set[Path] = set()
    for place, s in statements:
        if place in inside:
            continue
        found = _update(place, s)
        if found is None:
            used |= _touched(s)
            continue
        inside.update(found.paths[1:])
        used |= _other_names(found)
        updates.setdefault(_name(found.target), []).append(found)
    local = {s.name for _, s in statements if isinstance(s, Decl)}
    moving = _moving(loop, path)
    return tuple(
        _reduction(group)
        for name, group in updates.items()
        if name not in used | local and _agree(fn, group, moving)
    )


def _moving(loop: For, path: Path) -> frozenset[str]:
    """Names whose value changes from one iteration of the loop to the next (inner loop variables
    run through the same values in each)."""
    facts = gather(below(loop, path))
    return frozenset(facts.assigned) | frozenset(facts.declared) | {loop.var}


def _reduction(group: list[_Update]) -> Reduction:
    first = group[0]
    labels = tuple(u.stmt.label for u in group)
    paths = tuple(p for u in group for p in u.paths)
    loc = first.stmt.origin.loc
    return Reduction(expr_text(first.target), _name(first.target), first.op, labels, loc, paths)


def _agree(fn: Function, group: list[_Update], moving: frozenset[str]) -> bool:
    types = names_of(fn)
    for u in group:
        target, value = types.type_of(u.target), types.type_of(u.value)
        if target is None or value is None or (target.is_integer and value.is_float):
            return False
        if target.kind == "bool" and u.op in ("+", "*"):
            return False
        index = u.target.index if isinstance(u.target, Load) else ()
        if any(names(e) & moving for e in index):
            return False
    return len({u.op for u in group}) == 1


# ---------------------------------------------------------------- the forms


def _name(target: Expr) -> str:
    assert isinstance(target, Var | Load)
    return target.name if isinstance(target, Var) else target.array


def _update(path: Path, s: Stmt) -> _Update | None:
    """The update a statement is by itself, or None."""
    match s:
        case Assign(target, value, "+" | "-" as op):
            return _checked(target, "+" if op == "-" else op, value, s, (path,))
        case Assign(target, value, op) if op in OPERATORS:
            return _checked(target, op, value, s, (path,))
        case Assign(target, value, ""):
            found = _operand(target, value)
            return found and _checked(target, found[0], found[1], s, (path,))
        case If(cond, (Assign(target, value, "") as inner,), ()):
            which = _extremum(cond, value, target)
            both = (path, (*path, 0))
            return None if which is None else _checked(target, which, value, inner, both)
        case _:
            return None


def _checked(
    target: Var | Load, op: str, value: Expr, s: Assign, paths: tuple[Path, ...]
) -> _Update | None:
    return None if _name(target) in names(value) else _Update(target, op, value, s, paths)


def _operand(target: Expr, value: Expr) -> tuple[str, Expr] | None:
    """op and e of `target = target op e` in any form of a right-hand side."""
    match value:
        case Bin("-", left, right) if left == target:
            return "+", right
        case Bin("+" | "*" as op, _, _):
            rest = _without(target, value, op)
            return None if rest is None else (op, rest)
        case Bin(op, left, right) if op in OPERATORS and target in (left, right):
            return op, (right if left == target else left)
        case Call("fmin" | "fminf" | "fmax" | "fmaxf" as f, (left, right)):
            if target in (left, right):
                return f[1:4], (right if left == target else left)
            return None
        case Select(cond, then, orelse) if target in (then, orelse):
            e = orelse if then == target else then
            which = _extremum(cond, e, target)
            if which is None:
                return None
            return (which if orelse == target else _opposite(which)), e
        case _:
            return None


def _without(target: Expr, value: Expr, op: str) -> Expr | None:
    """`value`, a chain of one operator, without its single operand `target`: `s + a + b`."""
    match value:
        case Bin(o, left, right) if o == op:
            if left == target:
                return right
            if right == target:
                return left
            rest = _without(target, left, op)
            return None if rest is None else Bin(op, rest, right)
        case _:
            return None


def _extremum(cond: Expr, e: Expr, s: Expr) -> str | None:
    """ "min" where `cond` says that e is below s, max where it says above."""
    match cond:
        case Bin("<" | "<=", left, right) if (left, right) == (e, s):
            return "min"
        case Bin(">" | ">=", left, right) if (left, right) == (e, s):
            return "max"
        case Bin("<" | "<=", left, right) if (left, right) == (s, e):
            return "max"
        case Bin(">" | ">=", left, right) if (left, right) == (s, e):
            return "min"
        case _:
            return None


def _opposite(op: str) -> str:
    return "max" if op == "min" else "min"


# ---------------------------------------------------------------- other uses


def _header_names(s: For) -> frozenset[str]:
    return names(s.hi) | names(s.step)


def _touched(s: Stmt) -> frozenset[str]:
    """Every name a statement that is no update mentions, its target included."""
    found: frozenset[str] = frozenset()
    for e in stmt_exprs(s):
        found |= names(e)
    if isinstance(s, Copy):
        found |= {s.target, s.source}
    return found


def _other_names(u: _Update) -> frozenset[str]:
    index = u.target.index if isinstance(u.target, Load) else ()
    found = names(u.value)
    for e in index:
        found |= names(e)
    return found
