"""The body of a kernel: a mapped program as the statements one work-item executes.

Statements outside the thread loops run in step in the whole group (loops around barriers,
collective copies); statements inside them run per work-item, those past a bound left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import combinations

from loopxform.codegen import cexpr, render
from loopxform.codegen.opencl.barriers import (
    Access,
    Fences,
    Since,
    barrier,
    may_not_run,
    with_local,
)
from loopxform.codegen.opencl.barriers_outside_conditions import once_inside
from loopxform.codegen.opencl.cooperative_copy import plan_copy
from loopxform.codegen.opencl.launch import ThreadLoop
from loopxform.codegen.opencl.look_back import link_lines, turn_lines
from loopxform.codegen.opencl.places import PlaceWriter
from loopxform.codegen.opencl.software_pipeline import HIDE, Ahead, AsynchronousAhead
from loopxform.codegen.opencl.tile_starts import leading
from loopxform.codegen.opencl.work_item import indented
from loopxform.errors import EmitError
from loopxform.ir.affine import value_of
from loopxform.ir.nodes import Assign, Bin, Const, Copy, Decl, Expr, For, If, Stmt, Var
from loopxform.ir.types import Space
from loopxform.ir.visit import bodies, in_body_of, loads, names, walk, writes
from loopxform.transforms.edges.bounds import conjunction
from loopxform.transforms.latency.register_pipeline import computed

BARRIER = "barrier(CLK_LOCAL_MEM_FENCE);"

WORD = 4
"""Bytes of the numbers that are hidden."""


@dataclass
class KernelWriter(PlaceWriter):
    """Writes the statements of one kernel."""

    _written: frozenset[str] = frozenset()
    _covered: frozenset[int] = frozenset()
    _fences: Fences = field(init=False)
    _bodies: dict[tuple[int, str], tuple[For, list[str], Since]] = field(default_factory=dict)

    def lines(self, body: tuple[Stmt, ...]) -> list[str]:
        """The kernel body: offsets of the group, then what the group does."""
        out: list[str] = []
        self._written = writes(body)
        self._fences = Fences(self.mapping, body)
        link = next((s for _, s in walk(body) if isinstance(s, For) and s.look_back), None)
        if link is not None:
            out += turn_lines(link, self.own, self.dialect)
        out += self._bands()
        inner = body
        while len(inner) == 1 and _is_grid(inner[0]):
            loop = inner[0]
            assert isinstance(loop, For)
            out.append(self._group_offset(loop))
            inner = loop.body
        if any(_is_grid(s) for _, s in walk(inner)):
            raise EmitError("loops mapped to groups are not perfectly nested")
        starts = leading(inner)
        out += self._starts(starts)
        inner = inner[2 * len(starts) :]
        out += self._thread_offsets()
        self.partly_set = frozenset(self._set_by_some(inner))
        out += self._group(inner)
        return out

    def _set_by_some(self, body: tuple[Stmt, ...]) -> Iterator[str]:
        """Storage of a work-item that work-items past a bound never set. It gets a value all the
        same: compilers may take what is computed from an unset one for anything, branches of the
        other work-items included."""
        where = list(walk(body))
        for path, s in where:
            if isinstance(s, Decl) and s.space is not Space.LOCAL:
                scope = [(p, x) for p, x in where if in_body_of(path, p)]
                first = next((p for p, x in scope if s.name in writes((x,)) and not bodies(x)), ())
                around = [x for p, x in scope if p != first and first[: len(p)] == p]
                if any(self._skips(x) for x in around):
                    yield s.name

    def _skips(self, s: Stmt) -> bool:
        """Whether a statement runs what it holds in some work-items only."""
        found = (t for t in self.mapping.threads if t.loop is s)
        return isinstance(s, If) or any(self._conditions(t) for t in found)

    # ------------------------------------------------------------ the whole group

    def _group(self, body: tuple[Stmt, ...]) -> list[str]:
        return [line for s in body for line in self._group_stmt(s)]

    def _group_stmt(self, s: Stmt) -> list[str]:
        match s:
            case Copy() | If() if _only_copies(s):
                return [*self._fence(s), *self._copy(s)]
            case For() if s.look_back:
                items, *others = (value_of(e) or 1 for e in self.mapping.group_shape)
                if others != [1, 1]:
                    raise EmitError("a group that looks back has one dimension", loc=s.origin.loc)
                lines = link_lines(s, self.own, self.dialect, items, self._items)
                return [*self._fence(s), *lines]
            case For() if s.level is not None:
                return [*self._fence(s), *self.thread_nest(s)]
            case For() | If() if self._common(s):
                return [*self._fence(s), *self._item(s)]
            case For() if s.stages > 1:
                return self._ahead(s)
            case For():
                self._uniform(s.lo, s.hi, s.step)
                return self._in_step(once_inside(s))
            case If():
                self._uniform(s.cond)
                return self._branches(s)
            case Decl():
                return self._declaration(s)
            case Assign(Var()):
                return [*self._fence(s), f"{cexpr.assign(s, self.dialect)};"]
            case _:
                raise EmitError(
                    "a statement outside the loops mapped to threads writes to memory",
                    loc=s.origin.loc,
                    help="distribute the loops mapped to threads over it",
                )

    def _fence(self, s: Stmt) -> list[str]:
        """The barrier before a statement, where it needs one."""
        needed = self._fences.before(s)
        return [needed] if needed else []

    def _in_step(self, s: For) -> list[str]:
        """A loop that the whole group runs, or leaves out. A barrier that stands in it anyway
        serves what came before, too; else there is one in front of it."""
        known = self._bodies.get((id(s), self.dialect.buffer))
        if known is None or known[0] is not s:
            known = s, *self._again(once_inside(s))
            self._bodies[id(s), self.dialect.buffer] = known
        _, lines, after = known
        entry = self._fences.meeting(after.exposed)
        self._fences.touched(after.exposed, after.pending)
        return [*([entry] if entry else []), *lines]

    def _again(self, s: For) -> tuple[list[str], Since]:
        """A loop with the barriers that its body needs behind an iteration of its own, and what is
        touched since the last of them. What came before the loop makes no difference."""
        here, before = self._fences.since, tuple[Access, ...]()
        while True:
            self._fences.since = Since(before)
            lines = self._conditional(s.body, conditional=may_not_run(s))
            after = self._fences.since
            if set(after.pending) <= set(before):
                self._fences.since = here
                return self._loop(s, lines), after
            before = tuple(dict.fromkeys((*before, *after.pending)))

    def _conditional(self, body: tuple[Stmt, ...], *, conditional: bool) -> list[str]:
        """What the group does, all of it or none where it is `conditional`."""
        around = self._fences.conditional
        self._fences.conditional = around or conditional
        lines = self._group(body)
        self._fences.conditional = around
        return lines

    def _branches(self, s: If) -> list[str]:
        """Branches of which the whole group takes the same one, or none. Barriers stand in front of
        them where they can: see `barriers_outside_conditions`."""
        entry = self._fences.meeting(tuple(self._fences.accesses((s,))))
        before = after = self._fences.since

        def branch(body: tuple[Stmt, ...]) -> list[str]:
            nonlocal after
            self._fences.since = before
            out = self._conditional(body, conditional=True)
            after = after.either(self._fences.since)
            return out

        out = self._if(s, branch)
        self._fences.since = after
        return [*([entry] if entry else []), *out]

    def _common(self, s: Stmt) -> bool:
        """Whether a statement only computes values that all work-items have in common, each for
        itself."""
        inside = [x for _, x in walk((s,))]
        plain = all(isinstance(x, Assign | Decl | If | For) for x in inside)
        mapped = any(isinstance(x, For) and x.level is not None for x in inside)
        targets = [x.target for x in inside if isinstance(x, Assign)]
        return plain and not mapped and all(isinstance(t, Var) for t in targets)

    def _copy(self, s: Stmt) -> list[str]:
        """A collective copy, or one of two that a condition chooses for the whole group."""
        if isinstance(s, If):
            self._uniform(s.cond)
            return self._if(s, lambda body: [line for x in body for line in self._copy(x)])
        assert isinstance(s, Copy)
        plan = plan_copy(s, self.mapping.group_shape, self.own, self.dialect)
        return render.collective_copy(plan).rstrip("\n").split("\n")

    def _ahead(self, s: For) -> list[str]:
        """A loop whose tiles are fetched an iteration ahead."""
        way = AsynchronousAhead if s.asynchronous else Ahead
        s, bound = self._bounded(s)
        ahead = way(s, self.mapping, self.dialect, self.own, render.collective_copy)
        self._uniform(s.lo, s.hi, s.step, *ahead.places)
        everything = tuple(self._fences.accesses(s.body))
        entry = self._fences.meeting(everything)
        first = [entry] if entry else []
        inside = tuple(self._fences.accesses(ahead.rest))
        carried = self._fences.met(inside, inside)
        fence = with_local(barrier(carried, self._fences.local))
        here, self._fences.since = self._fences.since, Since()
        self.dialect = replace(self.dialect, buffer=self.own.stage)
        compute = self._group(ahead.rest)
        self.dialect, self._fences.since = ahead.dialect, here
        self._fences.touched(everything)
        inner = self._preloaded(computed(s)) if fence == BARRIER else None
        if inner is None:
            first += ahead.first()
            loop = self._loop(s, ahead.body(fence, compute))
        else:
            self.dialect = replace(self.dialect, buffer=self.own.stage)
            first += [*ahead.first_two(), BARRIER, *self.registers(inner)]
            first += ahead.if_any(self.first_read(inner))
            after = [BARRIER, *self.last_steps(inner)]
            loop = self._complete_tiles(s, inner, ahead, after)
            rest = replace(s, lo=ahead.whole()) if loop else s
            body = [*ahead.at_once(), *self.steps(inner), *ahead.next_tile(), *after]
            loop += self._loop(rest, body)
            self.dialect = ahead.dialect
        return ["{", *indented([*bound, *ahead.variables(), *first, *loop, *ahead.after()]), "}"]

    def _complete_tiles(self, s: For, inner: For, ahead: Ahead, after: list[str]) -> list[str]:
        """The iterations that two complete tiles follow, where these are stored and fetched between
        the iterations of the loop inside."""
        if not inner.interleaved or self.has_tiles(inner):
            return []
        k, steps = self.dialect.name(inner.var), (value_of(inner.hi) or 1) - inner.preloaded
        between = ahead.between(k, steps)
        if not between:
            return []
        turn = f"{self.own.stage} = 1 - {self.own.stage};"
        return self._loop(replace(s, hi=ahead.whole()), [*self.steps(inner, between), turn, *after])

    def _bounded(self, s: For) -> tuple[For, list[str]]:
        """The loop; one that runs up to a number, up to a variable that compilers know nothing
        of."""
        kind = self.dialect.type_of(s.hi)
        if names(s.hi) or any(loads(s.hi)) or kind.bytes != WORD:
            return s, []
        end = self.own.end
        lines = [f"{self.dialect.type_name(kind)} {end} = {cexpr.expr(s.hi, self.dialect)};"]
        self.dialect = replace(self.dialect, types={**self.dialect.types, end: kind})
        return replace(s, hi=Var(end)), [*lines, f"{HIDE}({end});"]

    def _preloaded(self, body: tuple[Stmt, ...]) -> For | None:
        """The loop that reads tiles ahead, where that is all that every work-item of the group does
        in the body."""
        covered: set[int] = set()
        while len(body) == 1 and isinstance(body[0], For) and body[0].level is not None:
            t = next(t for t in self.mapping.threads if t.loop is body[0])
            if t.loop.var not in self._hoisted or self._conditions(t):
                return None
            covered.add(t.dimension)
            body = body[0].body
        sizes = [value_of(e) for e in self.mapping.group_shape]
        whole = all(n in covered for n in range(3) if sizes[n] != 1)
        loop = body[0] if len(body) == 1 else None
        return loop if isinstance(loop, For) and loop.preloaded and whole else None

    def _uniform(self, *exprs: Expr) -> None:
        """Barriers must be met by all: conditions around them may not differ between work-items,
        nor read what the kernel writes."""
        moving = {t.loop.var for t in self.mapping.threads}
        for e in exprs:
            if names(e) & moving or {x.array for x in loads(e)} & self._written:
                raise EmitError("a barrier would stand in control flow that differs in a group")

    # ------------------------------------------------------------ one work-item

    def thread_nest(self, s: For) -> list[str]:
        """Directly nested thread loops become one condition."""
        conditions: list[Expr] = []
        offsets: list[str] = []
        body: tuple[Stmt, ...] = (s,)
        around = self._covered
        while len(body) == 1 and isinstance(body[0], For) and body[0].level is not None:
            loop = body[0]
            t = next(t for t in self.mapping.threads if t.loop is loop)
            if loop.var not in self._hoisted:
                offsets.append(self._thread_offset(t))
            conditions += self._conditions(t)
            self._covered |= {t.dimension}
            body = loop.body
        conditions += self._first_only(body)
        inner = self._items(body)
        self._covered = around
        if conditions:
            test = cexpr.expr(conjunction(conditions), self.dialect)
            inner = [f"if ({test}) {{", *indented(inner), "}"]
        elif _declares(body):
            inner = ["{", *indented(inner), "}"]
        return ["{", *indented([*offsets, *inner]), "}"] if offsets else inner

    def _first_only(self, body: tuple[Stmt, ...]) -> list[Expr]:
        """Along dimensions of the group that no loop around the body runs over, the first
        work-item runs it for all. Raises EmitError where only a part of it is for all."""
        sizes = [value_of(e) for e in self.mapping.group_shape]
        missing = [d for d in range(3) if sizes[d] != 1 and d not in self._covered]
        inner = [s for s in body if _holds_threads(s)]
        if not inner:
            return [Bin("<", Var(self.own.local_ids[d]), Const(1)) for d in missing]
        own = tuple(s for s in body if not _holds_threads(s))
        pairs = [p for p in combinations(body, 2) if any(map(_holds_threads, p))]
        pairs += [(s, s) for s in inner if not (isinstance(s, For) and s.level)]
        touched = self._fences.accesses
        meeting = any(
            self._fences.met(tuple(touched((a,))), tuple(touched((b,)))) for a, b in pairs
        )
        if meeting or (missing and writes(own) & self._fences.written):
            raise EmitError(
                "what stands beside a loop mapped to threads would run in each of them",
                loc=body[0].origin.loc,
                help="distribute the loops mapped to threads over it",
            )
        return []

    def _conditions(self, t: ThreadLoop) -> list[Expr]:
        full = value_of(self.mapping.group_shape[t.dimension])
        count = value_of(t.count)
        short = [Bin("<", Var(self.own.local_ids[t.dimension]), t.count)] if count != full else []
        return [*short, *(Bin("<", Var(t.loop.var), cut) for cut in t.cuts)]


def _only_copies(s: Stmt) -> bool:
    """A collective copy, or a condition with nothing else in its branches."""
    if isinstance(s, If):
        return all(_only_copies(x) for x in (*s.then, *s.orelse))
    return isinstance(s, Copy) and s.collective


def _holds_threads(s: Stmt) -> bool:
    """Whether a loop over threads is in a statement."""
    return any(isinstance(x, For) and x.level is not None for _, x in walk((s,)))


def _is_grid(s: Stmt) -> bool:
    return isinstance(s, For) and s.level is not None and s.level.kind == "grid"


def _declares(body: tuple[Stmt, ...]) -> bool:
    return any(isinstance(s, Decl) for s in body)
