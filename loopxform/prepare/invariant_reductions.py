"""Sums that a loop around them does not change, in nests of their own.

    for (i...) for (j...) { s = t = 0;
                            for (k...) { s += a[i][k] * b[j][k]; t += a[i][k] * a[i][k]; }
                            c[i][j] = s / t; }
        ->  for (i...) { t = 0; for (k...) t += a[i][k] * a[i][k]; t_row[i] = t; }
            for (i...) for (j...) { s = 0; for (k...) s += a[i][k] * b[j][k];
                                    t = t_row[i]; c[i][j] = s / t; }

Each sum has the terms that it had, in the same order. It is asked of the caller that every loop
around has an iteration: no element is read that the program does not read.
"""

from __future__ import annotations

from dataclasses import replace

from loopxform.ir.affine import value_of
from loopxform.ir.names import fresh
from loopxform.ir.nodes import Assign, Bin, Const, Decl, For, Function, Load, Stmt, Var
from loopxform.ir.types import Space
from loopxform.ir.typing import symbols
from loopxform.ir.visit import loads, names, perfect_nest, reads, substitute_body, writes
from loopxform.records import record

Body = tuple[Stmt, ...]


@record
class _Sum:
    """A reduction of the loop `inner`, which `start` begins; `needs` are those of the loops around
    that change it."""

    name: str
    update: Assign
    start: Assign
    inner: For
    needs: tuple[For, ...]


def with_invariant_reductions(fn: Function) -> Function:
    """The function with a nest for each sum that some loop around it does not change."""
    for place, s in enumerate(fn.body):
        if isinstance(s, For) and (sums := _sums(fn, perfect_nest(s))):
            return with_invariant_reductions(_apart(fn, place, sums[0]))
    return fn


def _sums(fn: Function, nest: tuple[For, ...]) -> list[_Sum]:
    """The sums of a nest that a loop around them does not change."""
    around, changing = {x.var for x in nest}, writes(fn.body)
    ends = [value_of(x.hi) for x in nest]
    never_runs = any(n is not None and n < 1 for n in ends)
    if never_runs or not all(_is_plain(x, around | changing) for x in nest):
        return []
    out = list[_Sum]()
    body = nest[-1].body
    for n, inner in enumerate(body):
        if not isinstance(inner, For) or not _is_plain(inner, around | changing, from_zero=False):
            continue
        for update in inner.body:
            start = _start(body[:n], update)
            terms = names(update.value) if isinstance(update, Assign) else frozenset()
            needs = tuple(x for x in nest if x.var in terms)
            if start is None or not isinstance(update, Assign) or not needs or needs == nest:
                continue
            name = next(iter(writes((update,))))
            others = writes((*body[:n], *inner.body, *body[n + 1 :])) - {name}
            beside = tuple(x for x in inner.body if x is not update)
            set_again = name in writes(beside) or name in reads((*body[:n], *beside))
            if not set_again and not (terms & (others | changing)) - {inner.var}:
                out.append(_Sum(name, update, start, inner, needs))
    return out


def _is_plain(loop: For, changing: frozenset[str] | set[str], *, from_zero: bool = True) -> bool:
    """Whether a loop counts by 1 between bounds that nothing changes, which no array holds."""
    bounds = (loop.lo, loop.hi)
    fixed = not any(names(e) & changing or any(loads(e)) for e in bounds)
    starts = value_of(loop.lo) == 0 or not from_zero
    return starts and value_of(loop.step) == 1 and fixed and not loop.live_out and not loop.asks


def _start(before: Body, update: Stmt) -> Assign | None:
    """The statement that begins a sum with a number."""
    match update:
        case Assign(Var(name), value, op) if op and name not in names(value):
            setting = [s for s in before if name in writes((s,))]
        case _:
            return None
    match setting:
        case [Assign(_, Const()) as start] if not start.op:
            return start
        case _:
            return None


def _apart(fn: Function, place: int, x: _Sum) -> Function:
    """The function with one sum in a nest of its own in front of the statement at `place`."""
    nest = perfect_nest(_loop_at(fn, place))
    array, own = fresh(fn, f"{x.name}_row"), fresh(fn, f"{x.name}_sum")
    kind = symbols(fn)[x.name]
    row = Load(array, tuple(Var(loop.var) for loop in x.needs))
    origin = nest[0].origin
    alone = substitute_body((x.start, replace(x.inner, body=(x.update,))), {x.name: Var(own)})
    stored = Assign(row, Var(own), label=f"{x.start.label}_row", origin=x.start.origin)
    body: Body = (Decl(own, kind, origin=origin), *alone, stored)
    for loop in reversed(x.needs):
        body = (replace(loop, body=body),)
    shape = tuple(loop.hi for loop in x.needs)
    rows = (Decl(array, kind, shape, Space.GLOBAL, origin=origin), *body)
    left = _without(nest, x, row)
    asked = [Bin(">=", loop.hi, Const(1)) for loop in nest if value_of(loop.hi) is None]
    return replace(
        fn,
        body=(*fn.body[:place], *rows, left, *fn.body[place + 1 :]),
        assumes=tuple(dict.fromkeys((*fn.assumes, *asked))),
        as_written=fn.as_written or fn,
    )


def _loop_at(fn: Function, place: int) -> For:
    loop = fn.body[place]
    assert isinstance(loop, For)
    return loop


def _without(nest: tuple[For, ...], x: _Sum, row: Load) -> For:
    """The nest that reads the sum in place of computing it."""
    body = list[Stmt]()
    for s in nest[-1].body:
        if s is x.start:
            continue
        if s is x.inner:
            rest = tuple(u for u in x.inner.body if u is not x.update)
            body += [replace(x.inner, body=rest)] if rest else []
            body.append(replace(x.start, value=row, label=f"{x.start.label}_read"))
            continue
        body.append(s)
    loop = replace(nest[-1], body=tuple(body))
    for outer in reversed(nest[:-1]):
        loop = replace(outer, body=(loop,))
    return loop
