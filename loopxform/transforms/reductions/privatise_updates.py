"""Privatised updates: forall g: for i of g: atomic h[a[i]] += e
  -> forall g: { T h_own[N]; for k < N: h_own[k] = 0;
                 for i of g: atomic h_own[a[i]] += e;
                 for k < N: if (h_own[k] != 0) atomic h[k] += h_own[k]; }

Each iteration of a loop collects its updates in an array of its own, which begins with the neutral
element of the operator, and adds that to the array at its end. In local memory (`promote-to-local`)
the work-items of a group wait for each other alone, and nearer by. Legal where the loop does
nothing with the array but atomic updates of one operator, and all extents of the array are numbers,
or the subscripts say how much of it is updated (`h[a[i]]` for bytes).
Several copies of each element lie side by side, where neighbours are not to wait for each other: an
iteration of the loop `BY` updates the copy of its number, modulo a power of two.
("Privatisation" in Kirk and Hwu, "Programming Massively Parallel Processors", chapter 9.)
"""

from __future__ import annotations

from dataclasses import replace
from math import prod
from typing import ClassVar

from loopxform.analysis.largest_value import greatest
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
from loopxform.ir.types import UINT, ULONG, Scalar, Space
from loopxform.ir.typing import symbols
from loopxform.ir.updates import CALLS, updated
from loopxform.ir.visit import LoopSite, declared, loads, map_exprs, replace_at, stmt_exprs, walk
from loopxform.records import record
from loopxform.transforms.base import Step
from loopxform.transforms.reductions.atomic_updates import MODULAR, WIDE
from loopxform.transforms.reductions.partial import neutral
from loopxform.transforms.sites import new_name, one_loop, trusted

MOST_COPIES = 64


@record
class PrivatiseUpdates(Step):
    """Gives each iteration of `loop` an array of its own for its atomic updates of `array`, which
    is called `copy` (default: h_own). It has `copies` of each element, one for every so many
    iterations of the loop `by`."""

    array: str
    loop: str
    copy: str = ""
    copies: str = ""
    by: str = ""

    verb: ClassVar[str] = "privatise-updates"
    usage: ClassVar[str] = "privatise-updates ARRAY LOOP [NAME [COPIES BY]]"

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        site = one_loop(fn, self.loop)
        if isinstance(site, Obstacle):
            return (site,)
        where = site.loop.origin.loc
        if not in_memory(fn, self.array):
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
        if self.copies and (why := self._unnumbered(site)):
            remedy = "name a number that is a power of two, and a loop around all updates"
            return (Obstacle("LX204", why, where, remedy=remedy),)
        names = (self.copy, *self.counters, *self._of_copies) if self.copy else ()
        return tuple(o for name in names for o in new_name(fn, name, site))

    def _unnumbered(self, site: LoopSite) -> str:
        """Why the copies of an element cannot be told apart."""
        number = int(self.copies) if self.copies.isascii() and self.copies.isdecimal() else 0
        if not 2 <= number <= MOST_COPIES or number & (number - 1):
            return f"there cannot be {self.copies} copies of an element"
        loops = [s for _, s in walk(site.loop.body) if isinstance(s, For) and s.var == self.by]
        inside = sum(len(updates(s, self.array)) for s in loops)
        if len(loops) != 1 or inside != len(updates(site.loop, self.array)):
            return f"not all updates of '{self.array}' are in one loop over '{self.by}'"
        return "" if value_of(loops[0].step) else f"the loop over '{self.by}' has no fixed step"

    @property
    def _of_copies(self) -> tuple[str, str]:
        """The loop over the copies of an element, and the sum of these."""
        return f"{self.copy}_c", f"{self.copy}_s"

    @property
    def counters(self) -> tuple[str, str]:
        """The loops that begin and add up a copy with a name of its own."""
        return f"{self.copy}_b", f"{self.copy}_e"

    def rewrite(self, fn: Function) -> Function:
        site = trusted(one_loop(fn, self.loop))
        op = _operator(updates(site.loop, self.array)[0])
        own, origin = self.copy or fresh(fn, f"{self.array}_own"), site.loop.origin.then(str(self))
        shape = updated_extents(fn, site.loop, self.array) or ()
        kind = _kind(symbols(fn)[self.array], op)
        start = neutral(op, (), kind)
        named = replace(self, copy=own)
        first, last = named.counters
        whole = (*shape, int(self.copies)) if self.copies else shape

        def every(counter: str, count: int, *body: Stmt) -> For:
            return For(counter, Const(0), Const(count), Const(1), body, origin=origin)

        begin = Assign(Load(own, _index(first, whole)), start, label=f"begin_{own}")
        element, collected = Load(self.array, _index(last, shape)), list[Stmt]()
        sum_of_own: Expr = Load(own, _index(last, shape))
        kept_in_own = rename(site.loop.body, {self.array: own})
        if self.copies:
            each, total = named._of_copies
            copy = Load(own, (*_index(last, shape), Var(each)))
            more = Assign(Var(total), updated(op, Var(total), copy), label=f"sum_{own}")
            collected = [
                Decl(total, kind, origin=origin),
                Assign(Var(total), start, label=f"start_{own}"),
                every(each, int(self.copies), more),
            ]
            sum_of_own = Var(total)
            kept_in_own = _in_copies(kept_in_own, own, self._number(site))
        add = Assign(element, sum_of_own, op, label=f"add_{own}", atomic=True)
        unset = sum_of_own if op in CALLS else start  # a NaN differs from itself
        kept = If(Bin("==" if op in CALLS else "!=", sum_of_own, unset), (add,), origin=origin)
        body = (
            Decl(own, kind, tuple(map(Const, whole)), origin=origin),
            every(first, prod(whole), begin),
            *kept_in_own,
            every(last, prod(shape), *collected, kept),
        )
        return replace_at(fn, site.path, (replace(site.loop, body=body, origin=origin),))

    def _number(self, site: LoopSite) -> Expr:
        """The copy that an iteration updates: whatever the sign of its number, one of them."""
        (loop,) = (s for _, s in walk(site.loop.body) if isinstance(s, For) and s.var == self.by)
        step = value_of(loop.step) or 1
        number: Expr = Var(self.by) if step == 1 else Bin("/", Var(self.by), Const(step))
        return Bin("&", number, Const(int(self.copies) - 1))

    def reason(self, fn: Function) -> str:
        var = trusted(one_loop(fn, self.loop)).loop.var
        return f"{var} does nothing with {self.array} but updates, which may be in any order"


def _in_copies(body: tuple[Stmt, ...], own: str, number: Expr) -> tuple[Stmt, ...]:
    """Updates of one of the copies of an element."""

    def f(e: Expr) -> Expr:
        return replace(e, index=(*e.index, number)) if isinstance(e, Load) and e.array == own else e

    return map_exprs(body, f)


def _index(counter: str, shape: tuple[int, ...]) -> tuple[Expr, ...]:
    """The subscripts of an element by its number."""
    index: list[Expr] = []
    for n, extent in enumerate(shape):
        inside = prod(shape[n + 1 :])
        e: Expr = Var(counter) if inside == 1 else Bin("/", Var(counter), Const(inside))
        index.append(e if n == 0 else Bin("%", e, Const(extent)))
    return tuple(index)


def _kind(own: Scalar, op: str) -> Scalar:
    """The type of a copy: partial results may leave the range of signed integers."""
    if own.is_float or op not in MODULAR:
        return own
    return ULONG if own.bytes == WIDE else UINT


def _operator(s: Assign) -> str:
    """What partial results are combined with: differences are added up."""
    return "+" if s.op == "-" else s.op


def updates(loop: For, array: str) -> list[Assign]:
    """The atomic updates of an array in a loop."""
    found = (s for _, s in walk(loop.body) if isinstance(s, Assign) and s.atomic and s.op)
    return [s for s in found if _target(s) == array]


def updated_extents(fn: Function, loop: For, array: str) -> tuple[int, ...] | None:
    """How much of an array of the function's a loop updates at most, in each dimension: all of it,
    or what the subscripts can be. None where that is no number."""
    shape = in_memory(fn, array)
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


def in_memory(fn: Function, array: str) -> tuple[Expr | None, ...]:
    """The shape of an array of the caller's, or of one beside the nests; () where it is neither."""
    own = declared(fn.body).get(array)
    if own is not None:
        return own.shape if own.space is Space.GLOBAL else ()
    return next((p.shape for p in fn.objects if p.name == array), ())


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
