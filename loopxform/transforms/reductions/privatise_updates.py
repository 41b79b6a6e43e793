"""Privatised updates: forall g: for i of g: atomic h[a[i]] += e
  -> forall g: { T h_own[N]; for k < N: h_own[k] = 0;
                 for i of g: atomic h_own[a[i]] += e;
                 for k < N: if (h_own[k] != 0) atomic h[k] += h_own[k]; }

Each iteration of a loop collects its updates in an array of its own, which begins with the neutral
element of the operator, and adds that to the array at its end. In local memory (`promote-to-local`)
the work-items of a group wait for each other alone, and nearer by. Legal where the loop does
nothing with the array but atomic updates of one operator, and all extents of the array are numbers,
or the subscripts say how much of it is updated (`h[a[i]]` for bytes).
("Privatisation" in Kirk and Hwu, "Programming Massively Parallel Processors", chapter 9.)
"""

from __future__ import annotations

from dataclasses import replace
from math import prod
from typing import ClassVar

from loopxform.analysis.greatest_value import greatest
from loopxform.errors import Obstacle
from loopxform.ir.affine import value_of
from loopxform.ir.names import fresh
from loopxform.ir.nodes import (
    Assign,
    Bin,
    Const,
    Copy,
    Decl,
    Expr,
    For,
    Function,
    If,
    Load,
    Opaque,
    Stmt,
    Var,
)
from loopxform.ir.renaming import rename
from loopxform.ir.types import UINT, ULONG, Scalar
from loopxform.ir.typing import symbols
from loopxform.ir.visit import LoopSite, loads, replace_at, stmt_exprs, walk
from loopxform.records import record
from loopxform.transforms.base import Step
from loopxform.transforms.reductions.atomic_updates import WIDE
from loopxform.transforms.reductions.partial import neutral
from loopxform.transforms.sites import new_name, one_loop, trusted


@record
class PrivatiseUpdates(Step):
    """Gives each iteration of `loop` an array of its own for its atomic updates of `array`, which
    is called `copy` (default: h_own)."""

    array: str
    loop: str
    copy: str = ""

    verb: ClassVar[str] = "privatise-updates"
    usage: ClassVar[str] = "privatise-updates ARRAY LOOP [NAME]"

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        site = one_loop(fn, self.loop)
        if isinstance(site, Obstacle):
            return (site,)
        where = site.loop.origin.loc
        param = next((p for p in fn.objects if p.name == self.array and p.shape), None)
        if param is None:
            text = f"'{self.array}' is no array of the function's"
            return (Obstacle("LX204", text, where, remedy="name a parameter or a global"),)
        found = updates(site.loop, self.array)
        if not found:
            text = f"the loop over '{site.loop.var}' does not update '{self.array}' atomically"
            return (Obstacle("LX204", text, where, remedy=f"atomic-updates {self.loop} first"),)
        if updated_extents(fn, site.loop, self.array) is None:
            text = f"the extents of '{self.array}' are not all numbers"
            remedy = "declare the array with its size, such as int h[256]"
            return (Obstacle("LX204", text, where, remedy=remedy),)
        other = _other_use(site, self.array, found)
        if other is not None:
            text = f"'{self.array}' is used for more than updates of one operator"
            return (Obstacle("LX204", text, other.origin.loc or where, remedy="split the loop"),)
        names = (self.copy, *self.counters) if self.copy else ()
        return tuple(o for name in names for o in new_name(fn, name, site))

    @property
    def counters(self) -> tuple[str, str]:
        """The loops that begin and add up a copy with a name of its own."""
        return f"{self.copy}_b", f"{self.copy}_e"

    def rewrite(self, fn: Function) -> Function:
        site = trusted(one_loop(fn, self.loop))
        param = next(p for p in fn.objects if p.name == self.array)
        op = _operator(updates(site.loop, self.array)[0])
        own, origin = self.copy or fresh(fn, f"{self.array}_own"), site.loop.origin.then(str(self))
        shape = updated_extents(fn, site.loop, self.array) or ()
        kind = _kind(param.type, op)
        start = neutral(op, (), kind)
        first, last = replace(self, copy=own).counters

        def every(counter: str, s: Stmt) -> For:
            return For(counter, Const(0), Const(prod(shape)), Const(1), (s,), origin=origin)

        begin = Assign(Load(own, _index(first, shape)), start, label=f"begin_{own}")
        sum_of_own = Load(own, _index(last, shape))
        element = Load(self.array, _index(last, shape))
        add = Assign(element, sum_of_own, op, label=f"add_{own}", atomic=True)
        body = (
            Decl(own, kind, tuple(map(Const, shape)), origin=origin),
            every(first, begin),
            *rename(site.loop.body, {self.array: own}),
            every(last, If(Bin("!=", sum_of_own, start), (add,), origin=origin)),
        )
        return replace_at(fn, site.path, (replace(site.loop, body=body, origin=origin),))

    def reason(self, fn: Function) -> str:
        var = trusted(one_loop(fn, self.loop)).loop.var
        return f"{var} does nothing with {self.array} but updates, which may be in any order"


def _index(counter: str, shape: tuple[int, ...]) -> tuple[Expr, ...]:
    """The subscripts of an element by its number."""
    index: list[Expr] = []
    for n, extent in enumerate(shape):
        inside = prod(shape[n + 1 :])
        e: Expr = Var(counter) if inside == 1 else Bin("/", Var(counter), Const(inside))
        index.append(e if n == 0 else Bin("%", e, Const(extent)))
    return tuple(index)


def _kind(own: Scalar, op: str) -> Scalar:
    """The type of a copy: partial sums may leave the range of signed integers."""
    if own.is_float or op != "+":
        return own
    return ULONG if own.bytes == WIDE else UINT


def _operator(s: Assign) -> str:
    """What partial results are combined with: differences are added up."""
    return "+" if s.op == "-" else s.op


def updates(loop: For, array: str) -> list[Assign]:
    """The atomic updates of an array in a loop."""
    found = (s for _, s in walk(loop.body) if isinstance(s, Assign) and s.atomic)
    return [s for s in found if _target(s) == array]


def updated_extents(fn: Function, loop: For, array: str) -> tuple[int, ...] | None:
    """How much of an array of the function's a loop updates at most, in each dimension: all of it,
    or what the subscripts can be. None where that is no number."""
    shape = next((p.shape for p in fn.objects if p.name == array), ())
    places = [s.target.index for s in updates(loop, array) if isinstance(s.target, Load)]
    types, out = symbols(fn), list[int]()
    for n, extent in enumerate(shape):
        most = None if extent is None else value_of(extent)
        if most is None:
            ends = [greatest(index[n], types) for index in places]
            numbers = [end for end in ends if end is not None]
            most = max(numbers) + 1 if len(numbers) == len(ends) > 0 else None
        if most is None:
            return None
        out.append(most)
    return tuple(out)


def _target(s: Assign) -> str:
    return s.target.array if isinstance(s.target, Load) else s.target.name


def _other_use(site: LoopSite, array: str, updates: list[Assign]) -> Stmt | None:
    """A statement that does something else with the array than an update of one operator."""
    op = _operator(updates[0])
    for _, s in walk(site.loop.body):
        if isinstance(s, Opaque):
            return s
        if isinstance(s, Copy) and array in (s.source, s.target):
            return s
        own = s.target if isinstance(s, Assign) and s.atomic and _operator(s) == op else None
        inside = (e for e in stmt_exprs(s) if e is not own)
        index = own.index if isinstance(own, Load) else ()
        if any(x.array == array for e in (*inside, *index) for x in loads(e)):
            return s
    return None
