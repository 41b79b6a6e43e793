"""Loops that data end, enqueued ahead: several turns of the body before the host reads the flag.

    while (more) { S; more = c; }  ->  for (turn = 1; turn <= T; turn++)
                                         if (more > 0) { S; more = c ? 1 : -turn; }

Every kernel of the body asks the flag on the device, and does nothing once the loop has ended. The
flag then tells in which turn that was: the host takes its scalars from before these turns, and sets
them as often as the body ran. Legal where

- the last launch of the body is the only one in it that writes the flag: one work-item, once a
  turn; all others that write it leave 0 or 1, and no kernel reads it;
- the body asks nothing else of data;
- what the host computes in turns that are none of the user's cannot trap or overflow: scalars move
  by numbers, and are compared.

A kernel that the host runs itself keeps turns apart: they wait for it anyway.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from loopxform.codegen.host.schedule import Choose, Item, Launch, Repeat, Set, every
from loopxform.ir.affine import value_of
from loopxform.ir.names import fresh
from loopxform.ir.nodes import (
    Assign,
    Bin,
    Const,
    Expr,
    For,
    Function,
    Load,
    Param,
    Select,
    Stmt,
    Un,
    Var,
)
from loopxform.ir.types import INT
from loopxform.ir.typing import COMPARISONS
from loopxform.ir.visit import map_body, names, reads, walk, writes
from loopxform.ir.whiles import is_while
from loopxform.transforms.edges.bounds import fixed_trips

SMALL = 1 << 20
"""What scalars of the host move by in a turn, at most."""

FAR = 1 << 30
"""From where on turns are not enqueued ahead: none of them may reach the end of int."""


def turned_ahead(items: tuple[Item, ...], fn: Function) -> tuple[Item, ...]:
    """The items, with the loops that may be enqueued ahead marked: they have a `turn`, and their
    launches ask the flag."""
    launches = [x for x in every(items) if isinstance(x, Launch)]

    def visit(x: Item) -> Item:
        match x:
            case Repeat(loop, body, flag) if flag and _is_legal(loop, body, flag, launches):
                turn = fresh(fn, "lx_turn")
                return replace(x, turn=turn, body=_asking(body, flag, turn))
            case Repeat(_, body):
                return replace(x, body=tuple(map(visit, body)))
            case Choose(_, then, orelse):
                return replace(x, then=tuple(map(visit, then)), orelse=tuple(map(visit, orelse)))
            case _:
                return x

    return tuple(map(visit, items))


def set_in(body: Sequence[Item]) -> dict[str, Set]:
    """The scalars that a body sets, each with one of the items that do."""
    return {x.name: x for x in every(tuple(body)) if isinstance(x, Set)}


def is_safe(e: Expr, moving: frozenset[str]) -> bool:
    """Whether a number of the host may be computed in turns that are none of the user's: it does
    not depend on `moving` scalars, or is made of them by steps that cannot trap."""
    if not names(e) & moving:
        return True
    match e:
        case Var():
            return True
        case Bin("+" | "-", a, b):
            small = any(abs(value_of(x) or 0) <= SMALL and value_of(x) is not None for x in (a, b))
            return small and is_safe(a, moving) and is_safe(b, moving)
        case Bin("%", a, b) | Bin("/", a, b):
            return (value_of(b) or 0) > 0 and is_safe(a, moving)
        case Bin(op, a, b) if op in COMPARISONS or op in ("&&", "||", "&", "|", "^"):
            return is_safe(a, moving) and is_safe(b, moving)
        case Un("!" | "~", a):
            return is_safe(a, moving)
        case _:
            return False


def _is_legal(loop: For, body: tuple[Item, ...], flag: str, launches: Sequence[Launch]) -> bool:
    inside = tuple(every(body))
    own = [x for x in inside if isinstance(x, Launch)]
    settings = [x for x in inside if isinstance(x, Set)]
    moving = frozenset(x.name for x in settings)
    others = [x for x in launches if x not in own]
    return (
        is_while(loop)
        and bool(own)
        and own[-1] in body
        and _tells_alone(own[-1], flag)
        and not any(flag in writes(x.function.body) for x in own[:-1])
        and not any(flag in reads(x.function.body) for x in launches)
        and all(_leaves_truth(x.function, flag) for x in (own[-1], *others))
        and all(x in body for x in settings)
        and all(is_safe(e, moving) for x in inside for e in _computed(x))
        and not any(isinstance(x, Repeat | Choose) and x.flag for x in inside)
    )


def _computed(x: Item) -> Iterator[Expr]:
    """What the host computes for an item of a body itself."""
    match x:
        case Repeat(loop):
            yield from (loop.lo, loop.hi, loop.step)
        case Choose(cond):
            yield cond
        case Set(_, _, value):
            yield value
        case Launch(_, _, when):
            yield from () if when is None else (when,)


def _tells_alone(x: Launch, flag: str) -> bool:
    """Whether one work-item of the only group writes the flag, once in each launch."""
    telling = _writing(x.function, flag)
    if x.when is not None or len(telling) != 1:
        return False
    around, items = x.function.body, 0
    while telling[0] not in around:
        inner = [s for s in around if any(y is telling[0] for _, y in walk((s,)))]
        if len(inner) != 1 or not _is_once(inner[0]):
            return False
        (loop,) = inner
        assert isinstance(loop, For)
        items += loop.level is not None and loop.level.kind == "group"
        around = loop.body
    return items > 0


def _is_once(s: Stmt) -> bool:
    """Whether a statement is a mapped loop of one iteration."""
    trips = fixed_trips(s) if isinstance(s, For) and s.level is not None else None
    return trips is not None and not trips[1] and trips[0].value == 1


def _writing(fn: Function, flag: str) -> list[Assign]:
    every_one = (s for _, s in walk(fn.body) if isinstance(s, Assign))
    return [s for s in every_one if isinstance(s.target, Load) and s.target.array == flag]


def _leaves_truth(fn: Function, flag: str) -> bool:
    """Whether a kernel writes nothing but 0 and 1 to the flag."""
    telling = _writing(fn, flag)
    plain = all(s.op == "" and _is_truth(s.value) for s in telling)
    return plain and bool(telling) == (flag in writes(fn.body))


def _is_truth(e: Expr) -> bool:
    match e:
        case Const(value):
            return value in (0, 1)
        case Bin(op, _, _):
            return op in COMPARISONS or op in ("&&", "||")
        case Un(op, _):
            return op == "!"
        case _:
            return False


def _asking(body: tuple[Item, ...], flag: str, turn: str) -> tuple[Item, ...]:
    """The items of a body, whose launches ask the flag, and whose last one tells the turn."""
    last = [x for x in every(body) if isinstance(x, Launch)][-1]

    def visit(x: Item) -> Item:
        match x:
            case Launch(number) if number == last.number:
                return _telling(replace(x, asks=flag), flag, turn)
            case Launch():
                return replace(x, asks=flag)
            case Repeat(_, inner):
                return replace(x, body=tuple(map(visit, inner)))
            case Choose(_, then, orelse):
                return replace(x, then=tuple(map(visit, then)), orelse=tuple(map(visit, orelse)))
            case Set():
                return x

    return tuple(map(visit, body))


def _telling(x: Launch, flag: str, turn: str) -> Launch:
    """With the number of the turn, below 0, in place of 0."""

    def told(s: Stmt) -> tuple[Stmt, ...]:
        if not (isinstance(s, Assign) and isinstance(s.target, Load) and s.target.array == flag):
            return (s,)
        return (replace(s, value=Select(s.value, Const(1), Un("-", Var(turn)))),)

    fn, number = x.function, Param(turn, INT)
    fn = replace(fn, params=(*fn.params, number), body=map_body(fn.body, told))
    return replace(x, function=fn, changing=(*x.changing, number))
