"""Guards: those that can never fail are dropped, with what stands under guards that never hold, and
limits of copies that are never reached; and loops that may be entered without theirs, which is then
that of each statement inside."""

from __future__ import annotations

from dataclasses import replace

from loopxform.analysis.context import always, never
from loopxform.ir.affine import value_of
from loopxform.ir.nodes import (
    Assign,
    Bin,
    Call,
    Const,
    Copy,
    Decl,
    Expr,
    For,
    Function,
    If,
    Load,
    Slice,
    Stmt,
    Var,
)
from loopxform.ir.visit import Path, at, map_body, names, reads, replace_at, walk, walk_expr, writes
from loopxform.ir.whiles import condition
from loopxform.transforms.edges.bounds import conjunction, conjuncts


def enters_unseen(loop: For) -> bool:
    """Entering the loop and doing nothing in it is not seen: its bounds read no array and divide by
    constants only, they end it, and its variable is not read afterwards."""
    parts = [x for e in (loop.lo, loop.hi, loop.step) for x in walk_expr(e)]
    divisors = [x.right for x in parts if isinstance(x, Bin) and x.op in ("/", "%")]
    return (
        not loop.live_out
        and condition(loop) is None
        and not any(isinstance(x, Load | Call) for x in parts)
        and all(value_of(d) for d in divisors)
    )


def takes_inside(loop: For, changing: frozenset[str]) -> bool:
    """Whether each statement of a loop may have the condition around it, under which `changing` is
    written."""
    header = names(loop.lo) | names(loop.hi) | names(loop.step)
    return enters_unseen(loop) and not header & changing


def each_guarded(
    body: tuple[Stmt, ...], test: Expr, fresh: frozenset[str], changing: frozenset[str]
) -> tuple[Stmt, ...]:
    """Every statement under the condition, neighbours together; loops take it inside, unless their
    bounds have a value under it only. `fresh` are local variables that nothing has touched yet."""
    out: list[Stmt] = []
    for s in body:
        last = out[-1] if out else None
        match s:
            case Decl():
                out.append(s)
            case Assign(Var(name), Const(), "") if name in fresh:
                out.append(s)
            case For() if takes_inside(s, changing):
                out.append(replace(s, body=each_guarded(s.body, test, frozenset(), changing)))
            case Assign() | If() if isinstance(last, If) and last.cond == test:
                out[-1] = replace(last, then=(*last.then, s))
            case _:
                out.append(If(test, (s,)))
        fresh -= reads((s,)) | writes((s,))
    return tuple(out)


def drop_proven(fn: Function, within: Path) -> Function:
    """`fn` without the conditions, inside the statement at `within`, that are proven to hold. What
    holds does so without those that are dropped, too: one program is asked about all of them."""
    asked = fn
    for path, s in reversed(list(walk(asked.body))):
        if path[: len(within)] != within:
            continue
        if isinstance(s, If) and not s.orelse:
            kept = [c for c in conjuncts(s.cond) if not always(asked, path, c)]
            if len(kept) < len(conjuncts(s.cond)):
                new = (replace(s, cond=conjunction(kept)),) if kept else s.then
                fn = replace_at(fn, path, new)
        elif isinstance(s, Copy):
            slices = tuple(unlimited(asked, path, x) for x in s.slices)
            past = any(x.limit is not None and not x.clamp for x in slices)
            fn = replace_at(fn, path, (replace(s, slices=slices, pad=s.pad if past else None),))
    return fn


def drop_impossible(fn: Function, within: Path) -> Function:
    """`fn` without the branches, inside the statement at `within`, that are proven not to run, and
    without the loops and conditions that are left empty."""
    for path, found in reversed(list(walk(fn.body))):
        if path[: len(within)] != within or not isinstance(found, If):
            continue
        s = at(fn, path)
        assert isinstance(s, If)
        if never(fn, path, s.cond):
            fn = replace_at(fn, path, s.orelse)
        elif s.orelse and always(fn, path, s.cond):
            fn = replace_at(fn, path, s.then)
    return replace_at(fn, within, map_body((at(fn, within),), _unless_empty))


def _unless_empty(s: Stmt) -> tuple[Stmt, ...]:
    idle_loop = isinstance(s, For) and not s.body and not s.live_out
    idle_guard = isinstance(s, If) and not s.then and not s.orelse
    return () if idle_loop or idle_guard else (s,)


def unlimited(fn: Function, path: Path, s: Slice) -> Slice:
    """The ends that are proven not to be passed are no ends."""
    if s.floor is not None and always(fn, path, Bin(">=", s.lo, s.floor)):
        s = replace(s, floor=None)
    end = Bin("+", s.lo, Const(1) if s.size is None else s.size)
    if s.limit is not None and always(fn, path, Bin("<=", end, s.limit)):
        s = replace(s, limit=None, clamp=False)
    return s
