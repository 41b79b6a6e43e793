"""A loop whose tiles are fetched ahead (the steps `pipeline` and `async`).

int stage = 0;
fetch tile 0; store it into buffer 0;
for (kk ...) {
  if (another iteration) fetch its tile;   into registers: the loads are under way
  barrier;                                 buffer `stage` is complete, the other one not in use
  compute with buffer `stage`;
  if (another iteration) {
    if (a part of its tile does not exist) padding in place of that;
    store what was fetched into buffer 1 - stage;
  }
  stage = 1 - stage;
}

The barrier behind the loads keeps them there: compilers move loads down to where what was loaded is
used first, but not past a barrier. Where two more tiles follow of which nothing is missing, an
`interleaved` loop stores the next tile and fetches the one after it bit by bit, between the
iterations that compute (`between`). Asynchronous copies need no registers:

start tiles 0, ..., buffers - 2;
for (kk ...) {
  wait for the tile of this iteration;
  barrier;                                 it is complete, the buffer before it not in use
  if (there is one) start the next tile;   into the buffer before it
  compute with buffer `stage`;
  stage = (stage + 1) % buffers;
}

Where places are computed before the loop, it starts a tile in each iteration, in the last ones the
first tiles again, which nothing reads: tests around copies keep compilers from mixing them with
arithmetic. Places of tiles that warps read together go along instead, as addresses: to compute them
takes a twentieth of such a product, and the units work on their own meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from loopxform.codegen import cexpr
from loopxform.codegen.opencl.async_copy import ARRIVED, FROM, STARTED
from loopxform.codegen.opencl.cooperative_copy import (
    CopyPlan,
    OwnNames,
    Part,
    Phase,
    past_end,
    plan_copy,
    vector_type,
)
from loopxform.codegen.opencl.dialect import KernelDialect
from loopxform.codegen.opencl.launch import Mapping
from loopxform.codegen.opencl.warp_groups import SEEN_BY_WARPS
from loopxform.codegen.opencl.work_item import indented
from loopxform.ir import whiles
from loopxform.ir.affine import poly, simplify, value_of
from loopxform.ir.nodes import Bin, Const, Copy, Expr, For, Slice, Stmt, Un, Var
from loopxform.ir.types import INT
from loopxform.ir.visit import substitute
from loopxform.records import record
from loopxform.transforms.latency.pipeline import split

HIDE = "LX_HIDE"
HIDE_PLACE = "LX_HIDE_PLACE"
"""Make a number, or a place, one that compilers know nothing of (templates/kernels.cl.j2)."""

FIRST_STEP = 3
"""Of those that store and fetch tiles bit by bit; before it, work-items would wait for what they
fetched an iteration ago."""


@record
class Ahead:
    """The loop, and what it takes to print copies."""

    loop: For
    mapping: Mapping
    dialect: KernelDialect
    own: OwnNames
    render: Callable[[CopyPlan], str]

    @property
    def copies(self) -> tuple[Copy, ...]:
        return split(self.loop)[0]

    @property
    def rest(self) -> tuple[Stmt, ...]:
        """The body without the copies."""
        return split(self.loop)[1]

    @property
    def places(self) -> list[Expr]:
        """What says which parts are copied."""
        return [e for c in self.copies for x in c.slices for e in x.places]

    def variables(self) -> list[str]:
        return [f"int {self.own.stage} = 0;"]

    def first(self) -> list[str]:
        """Fills the first buffer, if there is an iteration."""
        return self._if(self.loop.lo, self._lines(self.loop.lo, "0"))

    def body(self, fence: str, compute: list[str]) -> list[str]:
        """The body of the loop: `fence` is its barrier."""
        stage = self.own.stage
        later = Bin("+", Var(self.loop.var), self.loop.step)
        return [
            *self._registers(),
            *self._if(later, self._lines(later, "", "fetch")),
            fence,
            *compute,
            *self._if(later, [*self._mended(later), *self._lines(later, f"1 - {stage}", "store")]),
            f"{stage} = 1 - {stage};",
        ]

    def first_two(self) -> list[str]:
        """Fills the first buffer, and fetches the second tile."""
        lo, step = self.loop.lo, self.loop.step
        second = self._if_next(lo, self._lines(simplify(Bin("+", lo, step)), "", "fetch"))
        return [*self._registers(), *self.if_any([*self._lines(lo, "0"), *second])]

    def at_once(self) -> list[str]:
        """What comes first where all of a tile is read ahead."""
        return []

    def after(self) -> list[str]:
        """What comes behind the loop."""
        return []

    def next_tile(self) -> list[str]:
        """Stores the next tile, and fetches the one after it; of the last one nothing changes."""
        stage, later = self.own.stage, Bin("+", Var(self.loop.var), self.loop.step)
        after = simplify(Bin("+", later, self.loop.step))
        store = [*self._mended(later), *self._lines(later, f"1 - {stage}", "store")]
        fetch = self._if_next(later, self._lines(after, "", "fetch"))
        return self._if(later, [*store, f"{stage} = 1 - {stage};", *fetch])

    def between(self, k: str, steps: int) -> list[str]:
        """The same in so many steps, number `k` of them, where both tiles are complete (`whole`);
        nothing where this cannot be."""
        later = Bin("+", Var(self.loop.var), self.loop.step)
        after = simplify(Bin("+", later, self.loop.step))
        stores = [self._at(c, later) for c in self.copies]
        fetches = [_complete(self._at(c, after), self.loop, after) for c in self.copies]
        if any(map(past_end, fetches)):
            return []
        into = replace(self.dialect, buffer=f"1 - {self.own.stage}")
        lines = list[str]()
        for stored, fetched in zip(stores, fetches):
            store = self._plan(stored, into, "store")
            fetch = self._plan(fetched, replace(self.dialect, buffer=""), "fetch")
            for plan in (self._in_steps(x, k, steps) for x in (store, fetch)):
                lines += self.render(plan).rstrip("\n").split("\n")
        return lines

    def _in_steps(self, plan: CopyPlan, k: str, steps: int) -> CopyPlan:
        """The rounds of a copy that come in step `k`."""
        first = min(FIRST_STEP, steps - 1)
        each = -(-plan.rounds // (steps - first))
        start, end = (f"({k} - {n})*{each}" for n in (first, first - 1))
        begin = f"{k} < {first} ? {plan.rounds} : {start}"
        return replace(plan, loops=True, first=begin, more=f" && {self.own.r} < {end}")

    def whole(self) -> Expr:
        """The first iteration that two complete tiles do not follow."""
        step = self.loop.step
        count = Bin("-", Bin("/", self.loop.hi, step), Const(2))
        return Bin("*", Bin("max", count, Const(0)), step)

    def if_any(self, lines: list[str]) -> list[str]:
        """Lines where the loop has an iteration."""
        return self._if(self.loop.lo, lines)

    def _if(self, value: Expr, lines: list[str]) -> list[str]:
        """Lines for the iteration of that value, if there is one."""
        test = cexpr.expr(self._test(value), self.dialect)
        return [f"if ({test}) {{", *indented(lines), "}"]

    def _test(self, value: Expr) -> Expr:
        """Whether there is the iteration of that value."""
        return substitute(whiles.test(self.loop), {self.loop.var: value})

    def _if_next(self, value: Expr, lines: list[str]) -> list[str]:
        """Lines for the iteration after that of `value`, which there is, without a sum that might
        overflow, nor a difference of unsigned numbers that is none."""
        hi, step = self.loop.hi, self.loop.step
        test = Bin("<", value, simplify(Bin("-", hi, step)))
        if self.loop.type.is_unsigned or self._is_unsigned(hi):
            test = Bin(">", simplify(Bin("-", hi, value)), step)
        return [f"if ({cexpr.expr(test, self.dialect)}) {{", *indented(lines), "}"]

    def _is_unsigned(self, e: Expr) -> bool:
        return self.dialect.type_of(e).is_unsigned

    def _registers(self) -> list[str]:
        d = self.dialect
        return [
            f"{vector_type(c, d)} {self.own.next[c.target]}[{self._plan(c, d, None).rounds}];"
            for c in self.copies
        ]

    def _mended(self, value: Expr) -> list[str]:
        """Padding in registers, where a part of the tiles of that iteration does not exist."""
        lines: dict[Expr, list[str]] = {}
        for c in (self._at(c, value) for c in self.copies):
            test = past_end(c)
            if test is not None:
                lines.setdefault(test, []).extend(self._copied(c, self.dialect, "mend"))
        out: list[str] = []
        for test, inside in lines.items():
            out += [f"if ({cexpr.expr(test, self.dialect)}) {{", *indented(inside), "}"]
        return out

    def _lines(self, value: Expr, buffer: str, part: Part | None = None) -> list[str]:
        """The copies of the iteration of that value, or a part of them."""
        d = replace(self.dialect, buffer=buffer)
        found = (self._at(c, value) for c in self.copies)
        return [line for c in found for line in self._copied(c, d, part)]

    def _copied(self, c: Copy, d: KernelDialect, part: Part | None) -> list[str]:
        return self.render(self._plan(c, d, part)).rstrip("\n").split("\n")

    def _plan(self, c: Copy, d: KernelDialect, part: Part | None) -> CopyPlan:
        phase = None if part is None else Phase(self.own.next[c.target], part)
        return plan_copy(c, self.mapping.group_shape, self.own, d, phase)

    def _at(self, c: Copy, value: Expr) -> Copy:
        """The copy of another iteration."""

        def moved(e: Expr | None) -> Expr | None:
            return None if e is None else substitute(e, {self.loop.var: value})

        def part(x: Slice) -> Slice:
            x = replace(x, lo=moved(x.lo) or x.lo, size=moved(x.size))
            return replace(x, limit=moved(x.limit), floor=moved(x.floor))

        return replace(c, slices=tuple(map(part, c.slices)))


def _complete(c: Copy, loop: For, begin: Expr) -> Copy:
    """A copy of the iteration that begins there, which the bound of the loop does not cut."""
    cut = (
        x.limit == loop.hi and x.size == loop.step and poly(x.lo) == poly(begin) for x in c.slices
    )
    slices = tuple(replace(x, limit=None) if n else x for x, n in zip(c.slices, cut))
    left = any(x.limit is not None and not x.clamp for x in slices)
    return replace(c, slices=slices, pad=c.pad if left else None)


@record
class AsynchronousAhead(Ahead):
    """The loop, where tiles are copied asynchronously. `ahead` is the iteration whose tiles are
    started next."""

    def variables(self) -> list[str]:
        kind, lo = self.dialect.counter_type(self.loop.type), cexpr.expr(self.loop.lo, self.dialect)
        return [*super().variables(), f"{kind} {self.own.ahead} = {lo};", *self._places()]

    def _places(self) -> list[str]:
        """Computes where what a work-item copies begins, which compilers are not to do again in
        every iteration."""
        new, declared, inside = self._later_dialect(), list[str](), list[str]()
        for c in (self._at(c, Var(self.own.ahead)) for c in self.copies):
            plan = new._plan(c, new.dialect, "place")
            if not plan.moves:
                continue
            to, start = self.own.places[c.target]
            kind, hide = (FROM, HIDE_PLACE) if self._follow(c) else ("int", HIDE)
            declared += [f"int {to}[{plan.rounds}];", f"{kind} {start}[{plan.rounds}];"]
            hidden = f"{HIDE}({to}[{self.own.r}])", f"{hide}({start}[{self.own.r}])"
            plan = replace(plan, moves=(*plan.moves, *hidden))
            inside += self.render(plan).rstrip("\n").split("\n")
        return [*declared, *self.if_any(inside)] if inside else []

    def first(self) -> list[str]:
        """Starts all tiles but the last that there is room for."""
        return [x for n in range(self.loop.stages - 1) for x in self._start(str(n))]

    def body(self, fence: str, compute: list[str]) -> list[str]:
        turn = f"{self.own.stage} = {self._later(1)};"
        seen = [f"{SEEN_BY_WARPS}();"] if any(map(self._follow, self.copies)) else []
        return [self._wait(), *seen, fence, *self.at_once(), *compute, turn]

    def first_two(self) -> list[str]:
        """Fills the first buffer."""
        return [*self.first(), self._wait()]

    def at_once(self) -> list[str]:
        """Starts a tile, into the buffer that was in use before this one."""
        buffer = self._later(self.loop.stages - 1)
        if not self._repeats:
            return self._start(buffer)
        new, value = self._later_dialect(), Var(self.own.ahead)
        lo, end = (cexpr.expr(e, new.dialect) for e in (self.loop.lo, Un("!", self._test(value))))
        again = f"if ({end}) {{", f"  {self.own.ahead} = {lo};", "}"
        return [*again, *self._copies(new, buffer), f"{STARTED}();"]

    def after(self) -> list[str]:
        """Waits for tiles that nothing reads."""
        return [f"{ARRIVED}(0);"] if self._repeats else []

    @property
    def _repeats(self) -> bool:
        """Whether what all copies start is computed before, and does not go along."""
        if any(map(self._follow, self.copies)):
            return False
        new = self._later_dialect()
        later = (self._at(c, Var(self.own.ahead)) for c in self.copies)
        return all(new._plan(c, new.dialect, "place").moves for c in later)

    def _follow(self, c: Copy) -> bool:
        """Whether its places go along with the tiles: those that warps read together."""
        return self.dialect.tiles[c.target].pieces is not None

    def next_tile(self) -> list[str]:
        """The buffer of the next iteration, complete; of the last one nothing changes."""
        later = Bin("+", Var(self.loop.var), self.loop.step)
        turn = self._if(later, [f"{self.own.stage} = {self._later(1)};"])
        return [*turn, self._wait()]

    def _start(self, buffer: str) -> list[str]:
        new = self._later_dialect()
        return [*new._if(Var(self.own.ahead), self._copies(new, buffer)), f"{STARTED}();"]

    def _copies(self, new: AsynchronousAhead, buffer: str) -> list[str]:
        step = cexpr.expr(self.loop.step, self.dialect)
        lines = new._lines(Var(self.own.ahead), buffer, "start")
        return [*lines, f"{self.own.ahead} += {step};"]

    def _later_dialect(self) -> AsynchronousAhead:
        """With the iteration whose tiles are started."""
        types = {**self.dialect.types, self.own.ahead: self.loop.type}
        return replace(self, dialect=replace(self.dialect, types=types))

    def _plan(self, c: Copy, d: KernelDialect, part: Part | None) -> CopyPlan:
        """From places that were computed before, where numbers are those of an int from 0 on."""
        plain = self.loop.type == INT and value_of(self.loop.lo) == 0
        own, step = self.own.next[c.target], self.loop.step
        phase = None if part is None else Phase(own, part, placed=plain, step=step)
        return plan_copy(c, self.mapping.group_shape, self.own, d, phase)

    def _wait(self) -> str:
        return f"{ARRIVED}({self.loop.stages - 2});"

    def _later(self, n: int) -> str:
        """The buffer that is in use so many iterations later: the next one, or the one before."""
        count, stage = self.loop.stages, self.own.stage
        if count == 2:
            return f"1 - {stage}"
        last = count - 1
        if n == 1:
            return f"({stage} == {last} ? 0 : {stage} + 1)"
        return f"({stage} == 0 ? {last} : {stage} - 1)"
