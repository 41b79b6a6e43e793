"""Counts that stop at a bound: the count without it says where they do.

    if (c && k < most) out[k++] = a[i];    ->    if (c) out[k++] = a[i];

What is kept is the beginning of what is kept without the bound. Nothing else may depend on whether
the bound is reached: what stands under it only counts, and stores in arrays that the loop does not
read.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from functools import reduce

from loopxform.analysis.idioms.compaction import counts
from loopxform.analysis.idioms.guards import conjuncts
from loopxform.ir.nodes import Assign, Bin, Const, Expr, For, Function, If, Load, Stmt, Un, Var
from loopxform.ir.printer import expr_text
from loopxform.ir.visit import Path, at, map_body, names, reads, replace_at, walk, writes
from loopxform.records import record

_FAILS = {">=": "<", ">": "<=", "==": "!=", "<": ">=", "<=": ">"}
_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "!=": "!=", "==": "=="}


@record
class Uncapped:
    """A function with a loop that asks for no bounds, and these by what counts: `k < most`."""

    function: Function
    bounds: dict[str, str]


def uncapped(fn: Function, path: Path, carried: Collection[str]) -> Uncapped | None:
    """The loop at `path` without the bounds of `carried` counts; None where it has none."""
    loop, bounds = at(fn, path), dict[str, str]()
    assert isinstance(loop, For)
    for name in carried:
        bound = _bound(loop, name)
        if bound:
            bounds[name] = bound
            loop = replace(loop, body=_without(loop.body, name))
    return Uncapped(replace_at(fn, path, (loop,)), bounds) if bounds else None


def _bound(loop: For, name: str) -> str:
    """What is asked of a count wherever the loop counts; "" where that is not one and the same
    bound, or anything else depends on it."""
    capped = [s for _, s in walk(loop.body) if isinstance(s, If) and _asked(s.cond, name)]
    bounds = {b for s in capped for b in _asked(s.cond, name)}
    if len({expr_text(b) for b in bounds}) != 1 or any(s.orelse for s in capped):
        return ""
    inside = [s for x in capped for _, s in walk(x.then)]
    updates = [s for _, s in walk(loop.body) if isinstance(s, Assign) and s.target == Var(name)]
    (bound, *_) = bounds
    moving = writes(loop.body) | {s.var for _, s in walk((loop,)) if isinstance(s, For)}
    alone = all(any(s is x for x in inside) for s in updates) and not (
        (names(bound) - {name}) & moving
    )
    return expr_text(bound) if alone and all(_only_counts(s, name, loop) for s in inside) else ""


def _only_counts(s: Stmt, name: str, loop: For) -> bool:
    match s:
        case If():
            return True
        case Assign(Load(array)):
            return array not in reads(loop.body)
        case Assign():
            return counts(s, name) > 0
        case _:
            return False


def _asked(cond: Expr, name: str) -> tuple[Expr, ...]:
    """The bounds of a count that a condition asks for."""
    return tuple(b for e in conjuncts(cond) if (b := upper(e, name)) is not None)


def upper(e: Expr, name: str) -> Bin | None:
    """A condition as `name < most`, `name <= most` or `name != most`; None where it is none."""
    match e:
        case Un("!", Bin(op, left, right)) if op in _FAILS:
            return upper(Bin(_FAILS[op], left, right), name)
        case Bin(op, left, Var(other)) if other == name and op in _TURNED:
            return upper(Bin(_TURNED[op], Var(name), left), name)
        case Bin("<" | "<=" | "!=", Var(other), most) if other == name and name not in names(most):
            return e
        case _:
            return None


def _without(body: tuple[Stmt, ...], name: str) -> tuple[Stmt, ...]:
    """The body without the bounds of a count."""

    def plain(s: Stmt) -> tuple[Stmt, ...]:
        if not isinstance(s, If) or not _asked(s.cond, name):
            return (s,)
        rest = [e for e in conjuncts(s.cond) if upper(e, name) is None]
        cond = reduce(lambda a, b: Bin("&&", a, b), rest) if rest else Const(1)
        return (replace(s, cond=cond),)

    return map_body(body, plain)
