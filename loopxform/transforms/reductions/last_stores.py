"""Last stores: for i: out[key[i]] = e(i)
  -> unsigned out_last[n]; forall k: out_last[k] = 0;
     for i: atomic out_last[key[i]] max= number of i, from 1 on;
     forall k: if (out_last[k] != 0) { i' = iteration of that number; out[k] = e(i'); }

Of the iterations that store to an element the last one wins: which one that is, is a maximum, which
iterations may find in any order; then its value is computed for each element that is stored to.
Legal for a loop that counts upwards, inside no parallel one, and does nothing with the array but
this store, also under conditions, whose value is computed from nothing that the loop changes, but
for what an iteration declares; the part of the array that is touched must be known.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

from loopxform.analysis.context import always
from loopxform.analysis.extent import existing_box
from loopxform.analysis.host_scalars import host_scalars
from loopxform.analysis.scatters import Scatter, scatter
from loopxform.errors import Obstacle
from loopxform.ir.affine import value_of
from loopxform.ir.names import fresh
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
    Load,
    Stmt,
    Var,
)
from loopxform.ir.renaming import rename
from loopxform.ir.types import UINT, ULONG, Scalar, Space, promote
from loopxform.ir.visit import (
    LoopSite,
    at,
    declared,
    loads,
    loops_around,
    map_body,
    names,
    replace_at,
    writes,
)
from loopxform.records import record
from loopxform.transforms.base import Step
from loopxform.transforms.edges.bounds import conjunction
from loopxform.transforms.reductions.atomic_updates import WIDE
from loopxform.transforms.sites import ascending, one_loop, plain_loop, trusted
from loopxform.transforms.storage.copied import COUNTERS, copy_nest, counters, in_order, touched


@record
class LastStores(Step):
    """Finds for each element of `array` the last iteration of `loop` that stores to it, in an array
    that is called `target` (default: out_last), and has that iteration alone store."""

    array: str
    loop: str
    target: str = ""

    verb: ClassVar[str] = "last-stores"
    usage: ClassVar[str] = "last-stores ARRAY LOOP [NAME]"

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        site = plain_loop(fn, self.loop, self.verb, self.target)
        if not isinstance(site, LoopSite):
            return site
        unfit = ascending(site)
        if unfit:
            return unfit
        why = self._problem(fn, site)
        if why is not None:
            return (_no(site, *why),)
        return ()

    def _problem(self, fn: Function, site: LoopSite) -> tuple[str, str] | None:
        """What stands in the way, and what to do instead."""
        if any(x.parallel for x in loops_around(fn, site.path)):
            text = f"the loop over '{site.loop.var}' is inside a parallel one"
            return text, "have the iterations of that one store in order"
        if self.array not in {p.name for p in fn.objects if p.array}:
            return f"'{self.array}' is no array of the caller's", "name a parameter or a global"
        found = scatter(fn, site.path, self.array)
        if isinstance(found, str):
            return found, "name a loop such as for (i...) out[key[i]] = v[i];"
        around = {x.var for x in loops_around(fn, site.path)}
        if any(names(e) & around for e in found.target.index):
            text = f"each iteration around stores to elements of '{self.array}' of its own"
            return text, "have the loop around innermost, or in parallel"
        ends = [*(x.lo for x in found.nest), *(x.hi for x in found.nest[1:])]
        if not all(names(e) <= host_scalars(fn) and not any(loads(e)) for e in ends):
            text = "where its iterations begin and end is not known before the loop"
            return text, "copy the bounds into variables first"
        if len(found.nest) > 1 and value_of(site.loop.step) != 1:
            return "the outermost loop counts by more than 1", f"normalise {site.loop.var} first"
        if self._box(fn, site) is None:
            return (
                f"how much of '{self.array}' is touched is not known before the loop",
                f"declare it with its size: {self.array}[n]",
            )
        return None

    def _box(self, fn: Function, site: LoopSite) -> tuple[tuple[Expr, ...], list[Expr]] | None:
        """The extents of what is touched of the array, and when it is; None where they are not
        known."""
        box = existing_box(fn, self.array)
        if box is None or len(box.upper) > len(COUNTERS):
            return None
        when = [c for c in touched(box) if not always(fn, site.path, c)]
        ends = {n for e in (*box.upper, *when) for n in names(e)}
        return (box.upper, when) if ends <= host_scalars(fn) - writes(fn.body) else None

    def rewrite(self, fn: Function) -> Function:
        site = trusted(one_loop(fn, self.loop))
        box = self._box(fn, site)
        assert box is not None
        upper, when = box
        found = scatter(fn, site.path, self.array)
        assert isinstance(found, Scatter)
        last = self.target or fresh(fn, f"{self.array}_last")
        wide = len(found.nest) > 1 or promote(site.loop.type).bytes == WIDE
        kind = ULONG if wide else UINT
        origin = site.loop.origin.then(str(self))

        def every(own: tuple[str, ...], body: Stmt) -> Stmt:
            (nest,) = map_body((copy_nest(fn, (body,), own, upper),), in_order)
            return If(conjunction(when), (nest,), origin=origin) if when else nest

        first = counters(fn, len(upper))
        element = Load(last, tuple(map(Var, first)))
        zero = Assign(element, Const(0, kind), label=f"begin_{last}", origin=origin)
        begin = every(first, zero)
        second = counters(replace(fn, body=(*fn.body, begin)), len(upper))
        element = Load(last, tuple(map(Var, second)))
        store = every(second, self._stored(fn, site, element, kind))
        decl = Decl(last, kind, upper, Space.GLOBAL, origin=origin)
        to = Load(last, found.target.index)
        number = _number(found.nest, kind)
        most = Assign(to, number, "max", f"find_{last}", True, origin=origin)
        loop = at(replace_at(fn, found.path, (most,)), site.path)
        done = replace_at(fn, site.path, (begin, replace(loop, origin=origin), store))
        outermost = site.path[:1]
        return replace_at(done, outermost, (decl, at(done, outermost)))

    def _stored(self, fn: Function, site: LoopSite, element: Load, kind: Scalar) -> Stmt:
        """What the last iteration stores to an element."""
        found = scatter(fn, site.path, self.array)
        assert isinstance(found, Scatter)
        origin = site.loop.origin.then(str(self))
        to = replace(element, array=self.array)
        value = Assign(to, found.store.value, label=f"store_{element.array}", origin=origin)
        new = {name: fresh(fn, f"{name}_last") for name in declared(found.needed)}
        body: list[Stmt] = []
        for loop, number in _iteration(found.nest, element, kind):
            new[loop.var] = fresh(fn, f"{loop.var}_last")
            counter, own = promote(loop.type), new[loop.var]
            body.append(Decl(own, counter, origin=origin))
            body.append(Assign(Var(own), Cast(counter, number), label=own, origin=origin))
        body += rename((*found.needed, value), new)
        return If(Bin("!=", element, Const(0, kind)), tuple(body), origin=origin)

    def reason(self, fn: Function) -> str:  # noqa: ARG002
        return (
            f"the last iteration that stores to an element of {self.array} wins, and nothing that "
            "it computes the value from changes"
        )


def _no(site: LoopSite, text: str, remedy: str) -> Obstacle:
    return Obstacle("LX258", text, site.loop.origin.loc, remedy=remedy)


def _number(nest: tuple[For, ...], kind: Scalar) -> Expr:
    """That of an iteration, from 1 on; later ones have greater numbers."""
    number: Expr = Const(0, kind)
    for n, loop in enumerate(nest):
        own = _difference(Var(loop.var), loop.lo, kind)
        span = _difference(loop.hi, loop.lo, kind)
        number = Bin("+", Bin("*", number, span), own) if n else own
    return Bin("+", number, Const(1, kind))


def _iteration(nest: tuple[For, ...], number: Expr, kind: Scalar) -> Iterator[tuple[For, Expr]]:
    """The values of the counters in the iteration of a number, the innermost first."""
    rest: Expr = Bin("-", number, Const(1, kind))
    for n, loop in reversed([*enumerate(nest)]):
        span = _difference(loop.hi, loop.lo, kind)
        own = Bin("%", rest, span) if n else rest
        yield loop, own if value_of(loop.lo) == 0 else Bin("+", own, Cast(kind, loop.lo))
        rest = Bin("/", rest, span)


def _difference(e: Expr, start: Expr, kind: Scalar) -> Expr:
    """How far an expression is from the start of a loop, which it is not below."""
    own = Cast(kind, e)
    return own if value_of(start) == 0 else Bin("-", own, Cast(kind, start))
