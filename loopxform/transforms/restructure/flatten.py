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
in the body of the outer one, beside other statements and under one condition at most; neither is
mapped. What the body declares is declared once: extents in there must not change. (von Hanxleden
and Kennedy, "Relaxing SIMD control flow constraints using loop transformations", 1992; on GPUs:
Aila and Laine, "Understanding the efficiency of ray traversal on GPUs", 2009.)
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
from loopxform.ir.types import INT, promote
from loopxform.ir.visit import (
    LoopSite,
    Path,
    at,
    loops,
    names,
    reads,
    replace_at,
    resolve,
    walk,
    walk_expr,
    writes,
)
from loopxform.ir.whiles import is_while, test, watching, while_loop
from loopxform.records import record
from loopxform.source import Origin
from loopxform.transforms.base import Step
from loopxform.transforms.edges.bounds import operands
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
        parts = _Parts.of(site, inner)
        is_own = inner.loop.var in {d.name for d in parts.declared}
        own = (*(() if is_own else whole_loop(inner)), *_fixed_step(inner))
        far = (o for s in (site, inner) for o in _in_range(fn, s, (site, inner)))
        marks = (o for s in (site, inner) for o in _marked(s))
        return (*header, *own, *far, *marks, *_body(parts), *wrong)

    def rewrite(self, fn: Function) -> Function:
        site = trusted(one_loop(fn, self.outer))
        inner = trusted(self._inner(fn, site))
        length = parse_size(fn, self.length)
        assert not isinstance(length, Obstacle)
        parts = _Parts.of(site, inner)
        taken = set(used_names(fn))
        (loop,) = rename((site.loop,), _own_names(fn, parts, taken))
        named = _Parts.of(replace(site, loop=_for(loop)), inner)
        origin = site.loop.origin.then(str(self))
        return replace_at(fn, site.path, _OneLoop(named, length, origin, taken).statements)

    def reason(self, fn: Function) -> str:  # noqa: ARG002
        return "the same statements in the same order: an iteration begins where the last one ended"

    def _inner(self, fn: Function, site: LoopSite) -> LoopSite | Obstacle:
        """The loop `inner` in the body of the outer one, under one condition at most."""
        found = resolve(fn, self.inner)
        if not found:
            return no_such_loop(fn, self.inner)
        held = [s for s in found if _is_held(fn, site.path, s.path)]
        if len(held) == 1:
            return held[0]
        text = f"the body of the loop over '{site.loop.var}' does not hold one loop over "
        text += f"'{self.inner}', under one condition at most"
        remedy = "flatten loops that are between the two first, from the inside"
        return Obstacle("LX221", text, found[0].loop.origin.loc, remedy=remedy)


def _is_held(fn: Function, outer: Path, inner: Path) -> bool:
    deeper = len(inner) - len(outer)
    if inner[: len(outer)] != outer or deeper not in (1, 2):
        return False
    return deeper == 1 or isinstance(at(fn, inner[:-1]), If)


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


def _marked(site: LoopSite) -> Iterator[Obstacle]:
    """What else steps have made of a loop, which one with another end could not be."""
    x = site.loop
    if (
        x.dealt
        or x.stages > 1
        or x.preloaded
        or x.serpentine
        or x.stores
        or x.turned
        or x.simd
        or x.chained
    ):
        text = f"the iterations of the loop over '{x.var}' are arranged for the hardware"
        yield Obstacle("LX132", text, x.origin.loc, remedy="flatten before that")


def _in_range(fn: Function, site: LoopSite, both: tuple[LoopSite, ...]) -> Iterator[Obstacle]:
    """The host asks of loops whether they leave their bounds too far behind for their type: of what
    counts in larger steps, another loop to the same bound must remain that does so, too."""
    loop, step = site.loop, value_of(site.loop.step) or 1
    sizes = {p.name for p in fn.objects if not p.array}
    rest = [s.loop for s in loops(fn) if all(s.path != x.path for x in both)]
    for e in operands(loop.hi) if abs(step) > 1 else ():
        as_far = (x for x in rest if e in operands(x.hi) and (value_of(x.step) or 0) / step >= 1)
        if names(e) and names(e) <= sizes and next(as_far, None) is None:
            text = f"'{loop.var}' may end beyond the largest {promote(loop.type)}"
            remedy = f"normalise {loop.var} first, or stripmine it"
            yield Obstacle("LX137", text, loop.origin.loc, remedy=remedy)


@record
class _Parts:
    """The body of the outer loop around the inner one: what stands before and behind it, and the
    same in the branch that holds it, if that is under a condition."""

    outer: For
    inner: For
    before: tuple[Stmt, ...]
    after: tuple[Stmt, ...]
    condition: Expr | None = None
    first: tuple[Stmt, ...] = ()
    last: tuple[Stmt, ...] = ()
    other: tuple[Stmt, ...] = ()

    @classmethod
    def of(cls, outer: LoopSite, inner: LoopSite) -> _Parts:
        n, *deeper = inner.path[len(outer.path) :]
        body = outer.loop.body
        s, before, after = body[n], body[:n], body[n + 1 :]
        if not deeper:
            return cls(outer.loop, _for(s), before, after)
        assert isinstance(s, If)
        (k,) = deeper
        cond, branch, other = s.cond, s.then, s.orelse
        if k < 0:
            cond, branch, other, k = Un("!", cond), other, branch, -1 - k
        around = (branch[:k], branch[k + 1 :], other)
        return cls(outer.loop, _for(branch[k]), before, after, cond, *around)

    @property
    def declared(self) -> tuple[Decl, ...]:
        """What iterations declare that is used before the inner loop, in it, and behind it."""
        every = (*self.before, *self.first, *self.last, *self.after)
        return tuple(s for s in every if isinstance(s, Decl))


def _for(s: Stmt) -> For:
    assert isinstance(s, For)
    return s


def _body(parts: _Parts) -> Iterator[Obstacle]:
    """Statements that cannot begin at another time than those of other work-items, or would mean
    something else where they are declared once."""
    body = parts.outer.body
    for _, s in walk(body):
        match s:
            case Opaque():
                yield Obstacle(s.code, s.reason, s.origin.loc, remedy=s.help)
            case For() if s.level is not None:
                yield from unmapped(LoopSite((), s), "flatten")
            case Copy() if s.collective:
                text = f"all work-items of a group copy '{s.source}' at the same time"
                yield Obstacle("LX221", text, s.origin.loc, remedy="flatten before copies")
    changed = writes(body) | {parts.outer.var, parts.inner.var, *(d.name for d in parts.declared)}
    for d in parts.declared:
        if changing := {n for e in d.shape for n in names(e)} & changed:
            text = f"the extent of '{d.name}' depends on '{min(changing)}', which changes"
            yield Obstacle("LX145", text, d.origin.loc, remedy=f"bound-extent {d.name} first")


def _own_names(fn: Function, parts: _Parts, taken: set[str]) -> dict[str, str]:
    """New names, which are `taken` then, of what is declared again elsewhere, or counts other loops
    too."""
    counted = (s.var for _, s in walk(fn.body) if isinstance(s, For))
    kept = (s.name for _, s in walk(fn.body) if isinstance(s, Decl))
    uses = Counter([*counted, *kept, *(p.name for p in fn.objects)])
    own = [d.name for d in parts.declared]
    if parts.inner.var in own:  # it counts the loop, and is read behind it
        uses[parts.inner.var] -= 1
    every = dict.fromkeys((parts.outer.var, parts.inner.var, *own))
    return {name: _fresh(name, taken) for name in every if uses[name] > 1}


def _fresh(wanted: str, taken: set[str]) -> str:
    tries = (wanted if n == 1 else f"{wanted}_{n}" for n in count(1))
    name = next(n for n in tries if n not in taken)
    taken.add(name)
    return name


class _OneLoop:
    """The statements that two loops become: with names that are not `taken`."""

    def __init__(self, parts: _Parts, length: Expr, origin: Origin, taken: set[str]) -> None:
        self.parts, self.length, self.origin, self.taken = parts, length, origin, taken
        self.more = self._name("more")
        inner, rest = parts.inner, (*parts.inner.body, *parts.last, *parts.after)
        self.is_counted = not is_while(inner) or inner.var in reads(rest)
        self.enters = "" if parts.condition is None else self._name("enters")
        self.statements = tuple(self._statements())

    def _statements(self) -> Iterator[Stmt]:
        outer, inner = self.parts.outer, self.parts.inner
        counters = (outer, inner) if self.is_counted else (outer,)
        kept = {d.name for d in self.parts.declared}
        new = (x for x in counters if x.var not in kept)
        yield from (Decl(x.var, x.type, origin=self.origin) for x in new)
        yield from (Decl(n, INT, origin=self.origin) for n in (self.more, self.enters) if n)
        yield from self.parts.declared
        yield self._set(outer.var, outer.lo)
        yield self._set(self.more, Const(0))
        asked = test(inner)
        if self.enters:
            asked = Bin("&&", Var(self.enters), asked)
        ask = self._set(self.more, truth(asked))
        body = (
            self._finished((*self._first(), ask)),
            self._run(ask),
            self._finished(self._rest()),
        )
        yield while_loop(self._name("w"), test(outer), body, self.origin)

    def _first(self) -> tuple[Stmt, ...]:
        """What an iteration does before the inner loop, and the decision whether it gets there."""
        parts = self.parts
        begin = (self._set(parts.inner.var, parts.inner.lo),) if self.is_counted else ()
        before = _without(parts.before)
        if parts.condition is None:
            return (*before, *begin)
        branch = (*_without(parts.first), *begin)
        decided = self._set(self.enters, truth(parts.condition))
        chosen = (self._if(Var(self.enters), branch, parts.other),) if branch or parts.other else ()
        return (*before, decided, *chosen)

    def _rest(self) -> tuple[Stmt, ...]:
        """What an iteration does after the inner loop, and the step to the next one."""
        last, after = _without(self.parts.last), _without(self.parts.after)
        chosen = (self._if(Var(self.enters), last),) if last else ()
        return (*chosen, *after, self._stepped(self.parts.outer))

    def _run(self, ask: Assign) -> Stmt:
        """Iterations of the inner loop, as long as there are any. Each asks once whether there is
        another one: compilers that round in two ways cannot contradict themselves."""
        inner, more = self.parts.inner, Var(self.more)
        step = (self._stepped(inner),) if self.is_counted else ()
        body = (*inner.body, *step, ask)
        if value_of(self.length) == 1:
            return self._if(more, body)
        run = For(self._name("u"), Const(0), self.length, Const(1), body, origin=self.origin)
        return watching(run, more)

    def _finished(self, body: tuple[Stmt, ...]) -> If:
        return self._if(Un("!", Var(self.more)), body)

    def _if(self, cond: Expr, then: tuple[Stmt, ...], orelse: tuple[Stmt, ...] = ()) -> If:
        return If(cond, then, orelse, origin=self.origin)

    def _set(self, name: str, value: Expr) -> Assign:
        return Assign(Var(name), value, label="S", origin=self.origin)

    def _stepped(self, loop: For) -> Assign:
        return self._set(loop.var, simplify(Bin("+", Var(loop.var), loop.step)))

    def _name(self, wanted: str) -> str:
        return _fresh(wanted, self.taken)


def _without(body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
    """The statements but for the declarations."""
    return tuple(s for s in body if not isinstance(s, Decl))
