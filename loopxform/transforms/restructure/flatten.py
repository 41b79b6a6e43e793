"""Loop flattening: for (i = lo; i < hi; i++) { A; while (c) S; B }
  -> more = 0;
     for (i = lo; i < hi; ) {
       if (!more) { A; more = c; }
       if (more) { S; more = c; }
       if (!more) { B; i++; }
     }

A loop and one in its body become one loop, which runs the same statements in the same order. Those
that run in lockstep, each with its own iterations of the outer loop, then do not wait for the one
whose inner loop runs longest: the others go on to their next iteration. With a LENGTH, up to so
many iterations of the inner loop run between two tests whether it has ended. The inner loop stands
directly in the body of the outer one, beside other statements, and neither is mapped. What the body
declares is declared once: extents in there must not change. (von Hanxleden and Kennedy, "Relaxing
SIMD control flow constraints using loop transformations", 1992; on GPUs: Aila and Laine,
"Understanding the efficiency of ray traversal on GPUs", 2009.)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from typing import ClassVar

from loopxform.errors import Obstacle
from loopxform.ir.affine import simplify, value_of
from loopxform.ir.names import used_names
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
    Un,
    Var,
)
from loopxform.ir.renaming import rename
from loopxform.ir.types import INT
from loopxform.ir.visit import LoopSite, names, reads, replace_at, resolve, walk, walk_expr, writes
from loopxform.ir.whiles import is_while, test, watching, while_loop
from loopxform.records import record
from loopxform.source import Origin
from loopxform.transforms.base import Step
from loopxform.transforms.restructure.exit_flag import truth
from loopxform.transforms.sites import (
    fixed_header,
    no_such_loop,
    one_loop,
    parse_size,
    trusted,
    unmapped,
    whole_loop,
)


@record
class Flatten(Step):
    """Makes one loop of `outer` and the loop `inner` in its body, of which up to `length`
    iterations run between two tests whether it has ended."""

    outer: str
    inner: str
    length: str = "1"

    verb: ClassVar[str] = "flatten"
    usage: ClassVar[str] = "flatten OUTER INNER [LENGTH]"
    keeps_order: ClassVar[bool] = True

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        site = one_loop(fn, self.outer)
        if isinstance(site, Obstacle):
            return (site,)
        length = parse_size(fn, self.length)
        wrong = (replace(length, loc=site.loop.origin.loc),) if isinstance(length, Obstacle) else ()
        header = (*whole_loop(site), *_fixed(site), *unmapped(site, "flatten"))
        inner = self._inner(fn, site)
        if isinstance(inner, Obstacle):
            return (*header, inner, *wrong)
        return (*header, *whole_loop(inner), *_fixed_step(inner), *_body(site), *wrong)

    def rewrite(self, fn: Function) -> Function:
        site = trusted(one_loop(fn, self.outer))
        inner = trusted(self._inner(fn, site))
        length = parse_size(fn, self.length)
        assert not isinstance(length, Obstacle)
        origin = site.loop.origin.then(str(self))
        return _Flattened(fn, site, inner, length, origin).function

    def reason(self, fn: Function) -> str:  # noqa: ARG002
        return "the same statements in the same order: an iteration begins where the last one ended"

    def _inner(self, fn: Function, site: LoopSite) -> LoopSite | Obstacle:
        """The loop `inner` that stands directly in the body of the outer one."""
        found = resolve(fn, self.inner)
        if not found:
            return no_such_loop(fn, self.inner)
        direct = [s for s in found if s.path[:-1] == site.path]
        if len(direct) == 1:
            return direct[0]
        text = f"the body of the loop over '{site.loop.var}' does not hold one loop over "
        remedy = "a condition around it: distribute-guard first; a loop around it: flatten that one"
        loc = found[0].loop.origin.loc
        return Obstacle(
            "LX221", f"{text}'{self.inner}', beside other statements", loc, remedy=remedy
        )


def _fixed(site: LoopSite) -> Iterator[Obstacle]:
    """The end of the outer loop is asked for more often: nothing may change it in between."""
    loop = site.loop
    yield from fixed_header(site)
    yield from _fixed_step(site)
    if any(isinstance(x, Load) for e in (loop.lo, loop.hi) for x in walk_expr(e)):
        text = f"the loop over '{loop.var}' ends where an array says, which its body may change"
        remedy = "copy the bound into another variable before the loop"
        yield Obstacle("LX112", text, loop.origin.loc, remedy=remedy)


def _fixed_step(site: LoopSite) -> tuple[Obstacle, ...]:
    """By how much a loop counts must be a number."""
    if value_of(site.loop.step) is not None:
        return ()
    text = f"the step of the loop over '{site.loop.var}' is not a number"
    remedy = f"normalise {site.loop.var} first"
    return (Obstacle("LX221", text, site.loop.origin.loc, remedy=remedy),)


def _body(site: LoopSite) -> Iterator[Obstacle]:
    """Statements that cannot begin at another time than those of other work-items, or would mean
    something else where they are declared once."""
    loop = site.loop
    changed = writes(loop.body) | {loop.var} | {s.name for s in loop.body if isinstance(s, Decl)}
    for _, s in walk(loop.body):
        match s:
            case Opaque():
                yield Obstacle(s.code, s.reason, s.origin.loc, remedy=s.help)
            case For() if s.level is not None:
                yield from unmapped(LoopSite((), s), "flatten")
            case Copy() if s.collective:
                text = f"all work-items of a group copy '{s.source}' at the same time"
                yield Obstacle("LX221", text, s.origin.loc, remedy="flatten before copies")
    for s in loop.body:
        if isinstance(s, Decl) and (names_in := _extent(s) & changed):
            text = f"the extent of '{s.name}' depends on '{min(names_in)}', which changes"
            yield Obstacle("LX145", text, s.origin.loc, remedy=f"bound-extent {s.name} first")


def _extent(s: Decl) -> set[str]:
    return {n for e in s.shape for n in names(e)}


class _Flattened:
    """The function with the two loops as one; variables that several loops or statements declare
    get names of their own."""

    def __init__(
        self, fn: Function, site: LoopSite, inner: LoopSite, length: Expr, origin: Origin
    ) -> None:
        self.origin, self.length, self.place = origin, length, inner.path[-1]
        self.taken = set(used_names(fn))
        outer, new = site.loop, self._own_names(fn, site.loop, inner.loop)
        (self.outer,) = rename((outer,), new)
        self.more = Var(self._fresh("more"))
        self.function = replace_at(fn, site.path, tuple(self._statements()))

    def _own_names(self, fn: Function, outer: For, inner: For) -> dict[str, str]:
        """Of what is declared twice, or counts other loops too."""
        counted = [s.var for _, s in walk(fn.body) if isinstance(s, For)]
        kept = [s.name for _, s in walk(fn.body) if isinstance(s, Decl)]
        own = [outer.var, inner.var, *(s.name for s in outer.body if isinstance(s, Decl))]
        uses = Counter([*counted, *kept, *(p.name for p in fn.objects)])
        return {name: self._fresh(name) for name in own if uses[name] > 1}

    def _fresh(self, wanted: str) -> str:
        tries = (wanted if n == 1 else f"{wanted}_{n}" for n in count(1))
        name = next(n for n in tries if n not in self.taken)
        self.taken.add(name)
        return name

    def _statements(self) -> Iterator[Stmt]:
        outer = self.outer
        inner = outer.body[self.place]
        assert isinstance(inner, For)
        before, after = outer.body[: self.place], outer.body[self.place + 1 :]
        shared = [s for s in outer.body if isinstance(s, Decl)]
        is_counted = not is_while(inner) or inner.var in reads((*inner.body, *after))
        yield from (Decl(v.var, v.type, origin=self.origin) for v in (outer, *[inner][:is_counted]))
        yield Decl(self.more.name, INT, origin=self.origin)
        yield from shared
        yield self._set(outer.var, outer.lo)
        yield self._set(self.more.name, Const(0))
        ask = self._set(self.more.name, truth(test(inner)))
        first = (self._set(inner.var, inner.lo),) if is_counted else ()
        step = (self._stepped(inner),) if is_counted else ()
        body = (
            self._finished(*_without(before), *first, ask),
            self._run((*inner.body, *step, ask)),
            self._finished(*_without(after), self._stepped(outer)),
        )
        yield while_loop(self._fresh("w"), test(outer), body, self.origin)

    def _run(self, body: tuple[Stmt, ...]) -> Stmt:
        """Iterations of the inner loop, as long as there are any."""
        if value_of(self.length) == 1:
            return If(self.more, body, origin=self.origin)
        zero, one = Const(0), Const(1)
        run = For(self._fresh("u"), zero, self.length, one, body, origin=self.origin)
        return watching(run, self.more)

    def _finished(self, *body: Stmt) -> Stmt:
        return If(Un("!", self.more), body, origin=self.origin)

    def _set(self, name: str, value: Expr) -> Stmt:
        return Assign(Var(name), value, label="S", origin=self.origin)

    def _stepped(self, loop: For) -> Stmt:
        return self._set(loop.var, simplify(Bin("+", Var(loop.var), loop.step)))


def _without(body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
    return tuple(s for s in body if not isinstance(s, Decl))
