"""Pointers that change places in a loop stand still, and iterations take turns.

    for t: { B(u, v); p = u; u = v; v = p; }   ->   for t: if (t % 2 == 0) B(u, v) else B(v, u)

A pointer that is set to another one before the loop, and nowhere else but there, is that one. What
follows the loop meets the arrays where it left them. The program is for calls in which every
pointer takes its turn (`Function.assumes`): then each array is used in the same way.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby

from loopxform.ir.affine import simplify, value_of
from loopxform.ir.nodes import Bin, Const, Expr, For, Function, If, Opaque, Param, Stmt, Var
from loopxform.ir.renaming import rename
from loopxform.ir.visit import names, reads, walk, writes
from loopxform.ir.whiles import is_while
from loopxform.records import record

MOST_TURNS = 4
"""Pointers that change places."""


@record
class Rotation:
    """What each of the pointers that change places is set to."""

    after: Mapping[str, str]

    @property
    def turns(self) -> tuple[dict[str, str], ...]:
        """What the names stand for in each turn; none where those are too many."""
        now = {p: p for p in self.after}
        found: list[dict[str, str]] = []
        while len(found) <= MOST_TURNS:
            found.append(now)
            now = {p: now[q] for p, q in self.after.items()}
            if now == found[0]:
                return tuple(found)
        return ()


def standing_pointers(fn: Function) -> Function:
    """`fn` without the assignments of pointers that change places in one of its loops, where
    nothing else sets them, and all else is modelled."""
    moves = [s for _, s in walk(fn.body) if isinstance(s, Opaque)]
    for n, loop in enumerate(fn.body):
        if not isinstance(loop, For) or not _is_counted(fn, loop):
            continue
        inside, before = _moves(loop.body), _moves(fn.body[:n])
        rotation = _rotation(fn, inside) if _are_neighbours(loop.body) else None
        if rotation is None or len(inside) + len(before) != len(moves):
            continue
        named = _names(fn, before, rotation, fn.body[:n])
        if named is not None:
            return _renamed(fn, named, _in_turns(fn, n, rotation))
    return fn


def _moves(body: Sequence[Stmt]) -> tuple[Opaque, ...]:
    return tuple(s for s in body if isinstance(s, Opaque) and s.moves)


def _is_counted(fn: Function, loop: For) -> bool:
    """Whether a loop counts by 1, from a number on, as often as the function is told."""
    given = {p.name: p for p in fn.objects if not p.array and p.type.is_integer}
    lo, known = value_of(loop.lo), names(loop.hi) <= given.keys() - writes(fn.body)
    if lo is None or not known or is_while(loop) or value_of(loop.step) != 1 or loop.live_out:
        return False
    return lo == 0 or (lo > 0 and not any(given[n].type.is_unsigned for n in names(loop.hi)))


def _are_neighbours(body: Sequence[Stmt]) -> bool:
    """Whether nothing stands between the assignments of pointers."""
    places = [n for n, s in enumerate(body) if _is_move(s)]
    return places == [*range(places[0], places[0] + len(places))] if places else False


def _rotation(fn: Function, moves: tuple[Opaque, ...]) -> Rotation | None:
    """Which pointers change places; None where a value is lost or comes from elsewhere."""
    objects = {p.name: p for p in fn.objects if p.array}
    now: dict[str, str] = {}
    for s in moves:
        pointer, source = s.moves
        if source not in now and source not in objects:
            return None
        now[pointer] = now.get(source, source)
    after = {p: q for p, q in now.items() if p in objects}
    if not after or after.keys() != {*after.values()}:
        return None
    first, *others = (objects[p] for p in after)
    rotation = Rotation(after)
    return rotation if all(_alike(first, p) for p in others) and rotation.turns else None


def _alike(a: Param, b: Param) -> bool:
    """Whether the same subscripts say the same of two arrays."""
    return (a.type, a.shape, a.flat, a.const, a.rows) == (b.type, b.shape, b.flat, b.const, b.rows)


def _names(
    fn: Function, moves: tuple[Opaque, ...], rotation: Rotation, before: tuple[Stmt, ...]
) -> dict[str, str] | None:
    """The arrays that pointers of the function are set to in front of the loop; None where they
    have other uses there."""
    objects = {p.name: p for p in fn.objects if p.array}
    named = {s.moves[0]: s.moves[1] for s in moves}
    own = {p for p in rotation.after if objects[p].local}
    if named.keys() != own or len(named) != len(moves) or not objects.keys() >= {*named.values()}:
        return None
    others = tuple(s for s in before if not _is_move(s))
    used = reads(others) | writes(others) | rotation.after.keys()
    apart = len({*named.values()}) == len(named) and not used & {*named.values()}
    return named if apart and not (reads(others) | writes(others)) & named.keys() else None


def _in_turns(fn: Function, n: int, rotation: Rotation) -> Function:
    """With the loop, which is statement `n` of the body, and what follows it in turns."""
    loop, count = fn.body[n], len(rotation.turns)
    assert isinstance(loop, For)
    first = next(k for k, s in enumerate(loop.body) if _is_move(s))
    following = tuple(s for s in loop.body[first:] if not _is_move(s))
    now, trips = Bin("-", Var(loop.var), loop.lo), simplify(Bin("-", loop.hi, loop.lo))
    inside = (
        *_turned(loop.body[:first], rotation, now),
        *_turned(following, rotation, Bin("+", now, Const(1))),
    )
    before = tuple(s for s in fn.body[:n] if not _is_move(s))
    after = _turned(fn.body[n + 1 :], rotation, trips)
    enough = Bin(">=", trips, Const(count))
    return replace(
        fn,
        body=(*before, replace(loop, body=inside), *after),
        assumes=tuple(dict.fromkeys((*fn.assumes, enough))),
    )


def _is_move(s: Stmt) -> bool:
    return isinstance(s, Opaque) and bool(s.moves)


def _turned(body: tuple[Stmt, ...], rotation: Rotation, number: Expr) -> Iterator[Stmt]:
    """Statements with what the pointers stand for after so many turns; those that use none of them
    once."""
    turns = rotation.turns
    now = Bin("%", simplify(number), Const(len(turns)))
    pointers = rotation.after.keys()
    for uses, group in groupby(body, lambda s: bool((reads((s,)) | writes((s,))) & pointers)):
        statements = tuple(group)
        if not uses:
            yield from statements
            continue
        *some, last = (rename(statements, new) for new in turns)
        for k, s in reversed([*enumerate(some)]):
            last = (If(Bin("==", now, Const(k)), s, last, origin=statements[0].origin),)
        yield from last


def _renamed(fn: Function, named: dict[str, str], turned: Function) -> Function:
    """With the arrays that pointers stand for in place of those."""
    by_name = {p.name: p for p in fn.objects}

    def seen(p: Param) -> Param:
        own = next((by_name[q] for q, name in named.items() if name == p.name), None)
        return p if own is None else replace(p, shape=own.shape, flat=own.flat)

    return replace(
        turned,
        body=rename(turned.body, named),
        params=tuple(map(seen, turned.params)),
        globals=tuple(seen(p) for p in turned.globals if p.name not in named),
    )
