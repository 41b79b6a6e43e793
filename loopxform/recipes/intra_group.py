"""A group for each iteration, whose work-items share the parallel loops inside:

    forall i: { t[n];  for j: t[j] = e(i, j);  for k < m: { for j: x[i][j] += ...; for j: ... } }
 -> forall i (a group): { t[n] in local memory
      forall j_t < Tx: for (j = j_t; j < n; j += Tx): t[j] = e(i, j)
      for k < m (in step): { forall j_t: ...; forall j_t: ... }        barriers between

Perfect pairs of parallel loops are shared along y and x. Sums are shared in parts where they may be
in another order; what only computes scalars runs in every work-item, what else writes to memory in
the first one. Arrays of an iteration lie in local memory. Those that do not fit have an element in
global memory for as many groups as run at the same time, each of which then runs several
iterations. (Rotendahl and Larsen, section 2.4: V1 of incremental flattening.)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from math import isqrt, prod
from typing import ClassVar

from loopxform.analysis.verdict import LoopVerdict
from loopxform.errors import UnsupportedC
from loopxform.ir import whiles
from loopxform.ir.affine import value_of
from loopxform.ir.names import fresh
from loopxform.ir.nodes import (
    Assign,
    Bin,
    Decl,
    Expr,
    For,
    Function,
    If,
    Load,
    Opaque,
    Return,
    Stmt,
)
from loopxform.ir.visit import (
    Path,
    declared,
    loads,
    loops,
    reads,
    replace_at,
    resolve,
    walk,
    writes,
)
from loopxform.model.choice import Choice
from loopxform.model.saturation import filling_groups
from loopxform.prepare.parallel_band import Nest, upwards
from loopxform.prepare.perfect_nest import sunk, told_apart
from loopxform.recipes.array_sizes import fixed_bytes
from loopxform.recipes.base import Mapped, Question
from loopxform.recipes.deriving import Work
from loopxform.recipes.row_registers import striped
from loopxform.recipes.shared_loops import (
    PARALLEL,
    is_shared,
    is_short,
    perfect_pair,
    shared_loops,
    verdicts_inside,
)
from loopxform.schedule.params import Options, Recipe
from loopxform.targets.target import Limits
from loopxform.transforms import (
    BoundExtent,
    Distribute,
    Expand,
    Interchange,
    MapTo,
    Parallelise,
    Privatise,
    PromoteToLocal,
    Rfactor,
    RoundRobin,
    Stripmine,
    UnitLoop,
)
from loopxform.transforms.restructure.places import place_text

NOTHING = "no loop inside the parallel ones is parallel, or a reduction"


class IntraGroup:
    name: ClassVar[Recipe] = "group"

    def match(self, question: Question) -> Choice | str:
        """Where a loop in the body can be shared by the work-items of a group."""
        nest = question.facts.nest
        shared = tuple(shared_loops(nest.innermost.body, verdicts_inside(nest)))
        if not shared:
            return NOTHING
        pairs = any(len(x) > 1 for x in shared)
        group = ("Ty", "Tx") if pairs else ("Tx",)
        return Choice("group", (), shared[0][-1], group=group, shared=shared)

    def map(self, w: Work, nest: Nest, choice: Choice, options: Options, limits: Limits) -> Mapped:
        body = _Body(w, nest, choice.group, limits, "reassociate" if options.reassociate else "")
        w.stage("Loops that the work-items of a group share")
        body.share(nest.innermost.body)
        if not body.items:
            raise body.refused(NOTHING, "leave out the recipe")
        body.alone()
        body.place_arrays()
        w.stage("Mapping each iteration to a group")
        w.do(*(MapTo(v, "group.x") for v in body.groups))
        w.do(*(MapTo(v, level) for v, level in body.items))
        w.do(*(PromoteToLocal(name) for name in body.local))
        return Mapped(replace(choice, shared=tuple(body.shared)))


@dataclass
class _Body:
    """The body of a nest, on its way to a group. `items` are the loops over work-items with their
    levels, `shared` the loops of the nest whose iterations they share, `local` the arrays of the
    group, `groups` the loops over groups."""

    w: Work
    nest: Nest
    group: tuple[str, ...]
    limits: Limits
    reassociate: str
    items: list[tuple[str, str]] = field(default_factory=list)
    shared: list[tuple[str, ...]] = field(default_factory=list)
    local: list[str] = field(default_factory=list)
    groups: tuple[str, ...] = field(init=False)
    _verdicts: dict[str, LoopVerdict] = field(init=False)
    _written: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        self.groups = self.nest.parallel
        self._verdicts = verdicts_inside(self.nest)
        self._written = writes(self.nest.innermost.body)

    def refused(self, text: str, help: str) -> UnsupportedC:
        loc = self.nest.innermost.origin.loc
        return UnsupportedC(text, loc=loc, code="LX063", help=help)

    # ------------------------------------------------------------ loops

    def share(self, body: Iterable[Stmt]) -> None:
        """Shares the loops of a body that the whole group runs in step."""
        for s in body:
            match s:
                case Opaque() | Return():
                    raise self.refused("the body holds more than loops and assignments", "")
                case For() if not (self._parallel(s) or self._reduction(s) or self._apart(s)):
                    if self._in_step(s.lo, s.hi, s.step) and not whiles.is_while(s):
                        self.share(s.body)
                case If() if self._in_step(s.cond):
                    self.share((*s.then, *s.orelse))
                case _:
                    pass

    def _in_step(self, *asked: Expr) -> bool:
        """Whether all work-items compute the same, whenever they do: nothing that the nest
        writes to memory."""
        return not any(x.array in self._written for e in asked for x in loads(e))

    def _parallel(self, s: For) -> bool:
        """Shares the iterations of a parallel loop, or of a pair of them."""
        if not is_shared(s, self._verdicts) or self._verdicts[s.var].parallel not in PARALLEL:
            return False
        if self._sets_for_all(s):
            return False
        before = self.w.derivation
        self.w.derivation = sunk(before, s.var)
        inner = perfect_pair(resolve(self.w.fn, s.var)[0].loop, self._verdicts)
        if inner is not None and len(self.group) > 1 and self._box(s.var, inner.var):
            return True
        self.w.derivation = before
        return self._row(s.var)

    def _sets_for_all(self, s: For) -> bool:
        """Whether a loop, of one iteration at most, sets scalars that other work-items have copies
        of."""
        scalars = {n for n, d in declared(self.w.fn.body).items() if not d.shape}
        own = declared(s.body).keys() | set(self._verdicts[s.var].private)
        return bool((writes(s.body) & scalars) - own)

    def _apart(self, s: For) -> bool:
        """Gives the statements of a loop loops of their own, where some of these can be shared."""
        before, known = self.w.derivation, self._verdicts
        if any(isinstance(x, For) for x in s.body) or is_short(s, self.limits):
            return False
        if not self.w.attempt(Distribute((s.var,), ())):
            return False
        loops_before = {x.loop.var for x in loops(before.function)} - {s.var}
        self.w.derivation = told_apart(self.w.derivation)
        self._verdicts = verdicts_inside(self.nest.of(self.w.derivation))
        pieces = [x.loop for x in loops(self.w.fn) if x.loop.var not in loops_before]
        shared = len(self.shared)
        self.share(pieces if len(pieces) > 1 else ())
        if len(self.shared) == shared:
            self.w.derivation, self._verdicts = before, known
        return len(self.shared) > shared

    def _forall(self, *wanted: str) -> bool:
        private = (Privatise(n, v) for v in wanted for n in self._verdicts[v].shared)
        if not self.w.attempt(*private, *(Parallelise(v) for v in wanted)):
            return False
        for v in wanted:
            self.w.derivation = upwards(self.w.derivation, v)
        return True

    def _box(self, outer: str, inner: str) -> bool:
        before = self.w.derivation
        x, y = (fresh(self.w.fn, f"{v}_t") for v in (inner, outer))
        steps = (
            RoundRobin(inner, self.w.size("Tx"), x),
            Interchange(outer, x),
            RoundRobin(outer, self.w.size("Ty"), y),
        )
        if not (self._forall(outer, inner) and self.w.attempt(*steps)):
            self.w.derivation = before
            return False
        self.items += [(x, "thread.x"), (y, "thread.y")]
        self.shared.append((outer, inner))
        return True

    def _row(self, var: str) -> bool:
        """Along all work-items of the group."""
        before = self.w.derivation
        item = fresh(self.w.fn, f"{var}_t")
        if not (
            self._forall(var) and self.w.attempt(RoundRobin(var, self.w.size(*self.group), item))
        ):
            self.w.derivation = before
            return False
        self._spread(item)
        self.shared.append((var,))
        return True

    def _spread(self, item: str) -> None:
        """A loop of as many iterations as the group has work-items."""
        self.items.append((item, "thread.x"))
        if len(self.group) > 1:
            row = fresh(self.w.fn, f"{item}_y")
            self.w.do(Stripmine(item, self.w.size("Tx"), row))
            self.items.append((row, "thread.y"))

    def _reduction(self, s: For) -> bool:
        """Shares a reduction of scalars in parts, which every work-item combines."""
        verdict = self._verdicts.get(s.var)
        if verdict is None or verdict.parallel != "reduction" or is_short(s, self.limits):
            return False
        if not self.w.attempt(*(Privatise(x, s.var) for x in verdict.shared)):
            return False
        parts = self._parts(s.var, self.w.size(*self.group), "strided")
        if parts is None:
            return self._in_chunks(s)
        item, combining = parts
        self._spread(item)
        self.shared.append((s.var,))
        for var in combining:
            self._combine(var)
        return True

    def _combine(self, var: str) -> None:
        """Shares a loop over the parts of a reduction, where there are many."""
        total = value_of(resolve(self.w.fn, var)[0].loop.hi) or 0
        fan = 1 << (isqrt(total - 1).bit_length()) if total > 1 else 1
        if self.limits.costs.combined_alone < total and fan <= self.w.sizes["Tx"]:
            again = self._parts(var, str(fan), "strided")
            self.items += [(again[0], "thread.x")] if again else []

    def _in_chunks(self, s: For) -> bool:
        """Shares a reduction in chunks that follow one another: of equal extrema it finds the
        first, as the loop does."""
        before, known = self.w.derivation, declared(self.w.fn.body).keys()
        terms = self.limits.costs.extremum_terms
        parts = self._parts(s.var, str(terms), "")
        if parts is None:
            return False
        for name in declared(self.w.fn.body).keys() - known:
            self._bound(name, terms)
        item = fresh(self.w.fn, f"{parts[0]}_t")
        if not self.w.attempt(RoundRobin(parts[0], self.w.size(*self.group), item)):
            self.w.derivation = before
            return False
        self._spread(item)
        self.shared.append((s.var,))
        return True

    def _bound(self, array: str, terms: int) -> None:
        """Gives an array of an element for each chunk a fixed size, where the nest assumes how many
        iterations there are."""
        for e in self.w.fn.assumes:
            most = value_of(e.right) if isinstance(e, Bin) and e.op == "<=" else None
            if most and self.w.attempt(BoundExtent(array, (str(-(-most // terms)),))):
                return

    def _parts(self, var: str, size: str, strided: str) -> tuple[str, tuple[str, ...]] | None:
        """The loop over the parts of a reduction, and those that combine them."""
        known = {s.loop.var for s in loops(self.w.fn)}
        if not self.w.attempt(Rfactor(var, size, self.reassociate, strided)):
            return None
        made = [s.loop for s in loops(self.w.fn) if s.loop.var not in known]
        (item,) = (x.var for x in made if x.parallel)
        return item, tuple(x.var for x in made if not x.parallel)

    # ------------------------------------------------------------ what is left

    def _steps(self) -> Iterator[tuple[Path, Stmt]]:
        """The statements that the whole group runs in step, but for loops and conditions around
        others."""
        items = {v for v, _ in self.items}
        loop = resolve(self.w.fn, self.nest.parallel[-1])[0].path
        inside = [(p, s) for p, s in walk(self.w.fn.body) if len(p) > len(loop) and _is_in(p, loop)]
        shared = [p for p, s in inside if isinstance(s, For) and s.var in items]
        around = {p[:n] for p in shared for n in range(len(loop) + 1, len(p))} - {*shared}
        for path, s in inside:
            is_step = path[:-1] == loop or path[:-1] in around
            if is_step and path not in around and path not in shared:
                yield path, s

    def alone(self) -> None:
        """Gives what else writes to memory to the first work-item. Raises UnsupportedC where the
        others would need a scalar that it sets."""
        while (place := self._writing()) is not None:
            path, s = place
            once = fresh(self.w.fn, "once")
            self.w.do(UnitLoop(place_text(path), "1", once), Parallelise(once))
            self.items.append((once, "thread.x"))
            scalars = writes((s,)) - declared((s,)).keys() - _arrays(self.w.fn)
            rest = replace_at(self.w.fn, resolve(self.w.fn, once)[0].path, ())
            needed = scalars & reads(rest.body)
            if needed:
                text = f"the first work-item of a group would set '{min(needed)}' for all"
                raise self.refused(text, "compute it in a loop of its own")

    def _writing(self) -> tuple[Path, Stmt] | None:
        """The first statement that every work-item would run, and that writes to memory."""
        return next((x for x in self._steps() if _writes_memory(x[1])), None)

    def place_arrays(self) -> None:
        """Arrays of an iteration: those of fixed size in local memory, as far as it goes, the
        others with an element for each group. Raises UnsupportedC where a work-item would need one
        that has no fixed size."""
        room = self.limits.local_bytes
        own = self._own_arrays(self._in_registers())
        shared = {s.name for _, s in self._steps() if isinstance(s, Decl)}
        for decl in sorted(own, key=lambda d: fixed_bytes(d) or 0):
            size = fixed_bytes(decl)
            if decl.name not in shared:
                if size is None:
                    text = f"'{decl.name}' has no fixed size: no work-item can keep it"
                    raise self.refused(text, "give it a size that is a number")
            elif size is not None and size <= room:
                self.local.append(decl.name)
                room -= size
            else:
                self.w.do(Expand(decl.name, self._resident()))

    def _own_arrays(self, placed: Sequence[str] = ()) -> list[Decl]:
        """The arrays of an iteration, but for those that have a place."""
        loop = resolve(self.w.fn, self.nest.parallel[-1])[0].loop
        own = (s for _, s in walk(loop.body) if isinstance(s, Decl) and s.shape)
        return [s for s in own if s.name not in placed]

    def _in_registers(self) -> list[str]:
        """The arrays that work-items keep their elements of in registers, Rx words of each."""
        words = self.w.sizes["Rx"]
        if words == 1 or len(self.group) > 1:
            return []
        (size,) = self.group
        own = tuple(self._own_arrays())
        return striped(self.w, own, self.w.size(size), self.w.sizes[size], words)

    def _resident(self) -> tuple[str, ...]:
        """The loops over groups, each of which has arrays of its own in global memory: no more than
        run at the same time, where there is but one loop to deal out to them."""
        if len(self.nest.parallel) == 1 and self.groups == self.nest.parallel:
            (var,) = self.nest.parallel
            group = fresh(self.w.fn, f"{var}_g")
            count = filling_groups(self.limits, prod(self.w.sizes[n] for n in self.group))
            if self.w.attempt(RoundRobin(var, str(count), group)):
                self.groups = (group,)
        return self.groups


def _is_in(path: Path, outer: Path) -> bool:
    return path[: len(outer)] == outer


def _writes_memory(s: Stmt) -> bool:
    return any(isinstance(x, Assign) and isinstance(x.target, Load) for _, x in walk((s,)))


def _arrays(fn: Function) -> frozenset[str]:
    own = {n for n, d in declared(fn.body).items() if d.shape}
    return frozenset(own | {p.name for p in fn.objects if p.array})
