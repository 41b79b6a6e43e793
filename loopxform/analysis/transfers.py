"""Which elements of an array a function needs from its caller, and which it gives back.

    exposed = { x : a read of A[x] may run before every write of A[x] that runs for certain }
    back    = the elements, in the order of memory, from the first to the last that may be written
    into    = exposed, and what is in back and not written for certain: it has to keep its value

Where something is not known (a condition on data, a subscript that is not affine, a question that
is too hard) more is needed and more is given back, never anything beyond what the function touches.
The order in which iterations run is a schedule of isl: the place of a statement in its body and the
counter of the loop, from the outermost body inwards.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property, partial, reduce
from typing import TYPE_CHECKING

from loopxform.analysis import boxes, sets
from loopxform.analysis.accesses import Access
from loopxform.analysis.boxes import NoFormula
from loopxform.analysis.domain import names_of
from loopxform.analysis.extent import Extent, index_names, with_plain_assumptions
from loopxform.analysis.formula import Translator
from loopxform.analysis.linear import (
    TRUE,
    Conj,
    Constraint,
    Dnf,
    at_least,
    conj_names,
    equal,
    rename_conj,
)
from loopxform.analysis.region import Instance, region
from loopxform.analysis.scope import order
from loopxform.analysis.sets import TooHard
from loopxform.ir.affine import simplify
from loopxform.ir.nodes import Bin, Const, Expr, Function, Param
from loopxform.records import record

if TYPE_CHECKING:
    import islpy


@record
class Range:
    """The elements from `first` to `last` in the order of memory, given by their subscripts; none
    where `when` does not hold. All of it speaks of calls where the extent says that it holds."""

    first: tuple[Expr, ...]
    last: tuple[Expr, ...]
    when: Expr | None = None


@record
class Movement:
    """What has to be in a copy of the array before the function runs on it, and what of it counts
    afterwards. `exposed` says whether an element may be read before it is written."""

    into: Range | None
    back: Range | None
    exposed: bool


def movement(fn: Function, param: Param, touched: Extent) -> Movement:
    """The movement of an array parameter or global, of which `touched` is the extent."""
    search = _Search(fn, param, touched)
    try:
        if not touched.parts:
            raise TooHard("of the elements only the last is known")
        return search.result()
    except (TooHard, NoFormula):
        whole = search.whole
        back = whole if search.writes else None
        return Movement(whole, back, bool(search.reads))


_Use = tuple[Instance, Access]


class _Search:
    """The elements of one array as sets over `#0, #1, ...` (the subscripts) and scalars."""

    def __init__(self, fn: Function, param: Param, touched: Extent) -> None:
        fn = with_plain_assumptions(fn)
        self.fn, self.param, self.extent = fn, param, touched
        self.index = index_names(len(param.shape))
        uses = [
            (instance, access)
            for instance in region(fn).instances
            for access in instance.accesses
            if access.storage.name == param.name and access.storage.decl is None
        ]
        self.reads = [use for use in uses if not use[1].write]
        self.writes = [use for use in uses if use[1].write]
        self.certain = [use for use in self.writes if use[0].sure and use[1].known]

    def result(self) -> Movement:
        exposed = self._exposed()
        if not self.writes:
            return Movement(self._needed(exposed), None, exposed=True)
        written = self._in_touched(self._known(self._elements(self.writes)))
        between = self._between(written)
        kept = sets.bounded(lambda: between.subtract(self._elements(self.certain)))
        needed = sets.bounded(lambda: exposed.union(kept))
        back = self._range(written)
        return Movement(self._needed(needed), back, not sets.bounded(exposed.is_empty))

    @property
    def whole(self) -> Range:
        """All that is touched, from the start of the array on."""
        upper = self.extent.upper
        corner = tuple(simplify(Bin("-", e, Const(1))) for e in upper)
        rows_are_whole = not self.param.flat and self.param.shape[0] is not None
        last = None if rows_are_whole else self.extent.last
        return Range((Const(0),) * len(upper), corner if last is None else last)

    # ------------------------------------------------------------ sets

    @cached_property
    def params(self) -> tuple[str, ...]:
        """Everything that has one value throughout."""
        found = set(names_of(self.fn).inputs)
        for use in (*self.reads, *self.writes):
            found.update(*map(conj_names, self._formula(use)))
        found |= conj_names(self._rows)
        return tuple(sorted(n for n in found if n[0] not in "$#"))

    @cached_property
    def touched(self) -> islpy.Set:
        known = names_of(self.fn).inputs | set(self.index)
        return sets.build(_only(self.extent.parts, known), self.index, self.params)

    @cached_property
    def called(self) -> islpy.Set:
        """The calls that ranges speak of."""
        when = self.extent.when
        holds = TRUE if when is None else Translator(names_of(self.fn)).condition(when)
        return sets.build(holds, (), self.params).params()

    def _formula(self, use: _Use) -> Dnf:
        """The elements of an access at the iterations of its statement, whose loops count `$i`."""
        instance, access = use
        own = {x.var for x in instance.loops}
        named = [
            (
                *domain,
                *when,
                *(equal({n: 1}, x) for n, x in zip(self.index, subscripts) if x is not None),
            )
            for domain in instance.domain
            for subscripts, when in access.cases
        ]
        return tuple(rename_conj(c, lambda n: f"${n}" if n in own else n) for c in named)

    def _elements(self, uses: Iterable[_Use]) -> islpy.Set:
        """What some accesses touch."""
        found = tuple(c for use in uses for c in self._formula(use))
        return sets.build(found, self.index, self.params)

    def _known(self, elements: islpy.Set) -> islpy.Set:
        """Whatever the values that only a run knows: for some of them an element is in the set."""
        import islpy

        inputs = names_of(self.fn).inputs
        for n, name in enumerate(self.params):
            if name not in inputs:
                at = elements.find_dim_by_name(islpy.dim_type.param, f"p{n}")
                if at >= 0:
                    without = partial(elements.project_out, islpy.dim_type.param, at, 1)
                    elements = sets.bounded(without)
        return elements

    @cached_property
    def _rows(self) -> Conj:
        """Subscripts after the first stay in their row."""
        out: list[Constraint] = []
        for name, size in zip(self.index[1:], self.param.shape[1:]):
            found = None if size is None else Translator(names_of(self.fn)).cases(size)
            if found is None or len(found) != 1 or found[0][1]:
                raise NoFormula("the length of a row is not affine")
            out += [at_least({name: 1}, {}), at_least(found[0][0], {name: 1}, 1)]
        return tuple(out)

    def _between(self, elements: islpy.Set) -> islpy.Set:
        """All from the first element to the last in the order of memory."""
        rows = sets.build((self._rows,), self.index, self.params)

        def question() -> islpy.Set:
            first, last = elements.lexmin(), elements.lexmax()
            behind = first.lex_le_set(rows).range()
            return behind.intersect(rows.lex_le_set(last).domain()).coalesce()

        return sets.bounded(question)

    def _exposed(self) -> islpy.Set:
        """What may be read before it is written."""
        if not self.certain or not self.reads:
            return self._in_touched(self._elements(self.reads))
        return sets.bounded(lambda: self._unwritten().intersect(self.touched))

    def _in_touched(self, elements: islpy.Set) -> islpy.Set:
        touched = self.touched
        return sets.bounded(lambda: elements.intersect(touched))

    def _unwritten(self) -> islpy.Set:
        import islpy

        uses = [*self.reads, *self.certain]
        depth = max(len(instance.path) for instance, _ in uses)
        made = [self._timed(use, f"S{n}", depth) for n, use in enumerate(uses)]
        empty = islpy.UnionMap("{ }")
        reads, writes = made[: len(self.reads)], made[len(self.reads) :]
        sinks, sources = (
            reduce(lambda a, b: a.union(b), (use for use, _ in part), empty)
            for part in (reads, writes)
        )
        schedule = reduce(lambda a, b: a.union(b), (time for _, time in made), empty)
        flow = (
            islpy.UnionAccessInfo.from_sink(sinks)
            .set_must_source(sources)
            .set_schedule_map(schedule)
            .compute_flow()
        )
        found = flow.get_may_no_source().range()
        if sets.bounded(found.is_empty):
            return sets.build((), self.index, self.params)
        return islpy.Set.from_union_set(found)

    def _timed(self, use: _Use, label: str, depth: int) -> tuple[islpy.UnionMap, islpy.UnionMap]:
        """An access as a relation between iterations and elements, and when it happens."""
        import islpy

        loops = [f"${x.var}" for x in use[0].loops]
        elements = sets.relation(self._formula(use), label, loops, self.index, self.params)
        members = ", ".join(f"d{n}" for n in range(len(loops)))
        time = ", ".join(_time(*use, depth))
        schedule = islpy.UnionMap(f"{{ {label}[{members}] -> [{time}] }}")
        return elements.to_union_map(), schedule

    # ------------------------------------------------------------ formulas

    def _needed(self, elements: islpy.Set) -> Range | None:
        if sets.bounded(elements.is_empty):
            return None
        for found in (self._known(elements), self.touched):
            try:
                return self._range(found)
            except (TooHard, NoFormula):
                continue
        return self.whole

    def _range(self, elements: islpy.Set) -> Range | None:
        """From the first element to the last. Raises NoFormula."""
        if sets.bounded(elements.is_empty):
            return None

        def question() -> Range:
            first, last = elements.lexmin_pw_multi_aff(), elements.lexmax_pw_multi_aff()
            where = elements.params().intersect(self.called)
            when = elements.params().gist(self.called).coalesce()
            dims = range(len(self.index))
            return Range(
                tuple(boxes.formula(first.get_pw_aff(d), self.params, where) for d in dims),
                tuple(boxes.formula(last.get_pw_aff(d), self.params, where) for d in dims),
                boxes.condition(when, self.params),
            )

        return sets.bounded(question)


def _only(dnf: Iterable[Conj], known: frozenset[str] | set[str]) -> Dnf:
    """With a `$` in front of every name that is not known: there are such numbers."""
    return tuple(rename_conj(c, lambda n: n if n in known else f"${n}") for c in dnf)


def _time(instance: Instance, access: Access, depth: int) -> Iterator[str]:
    """Three numbers for each level of the statement's path: its place in the body, whether it is
    the statement itself (0) or in it (1), the counter of the loop there. What a loop asks before
    an iteration comes in front of the first statement, reads in front of writes."""
    counters = {x.path: f"{x.sign}*d{n}" for n, x in enumerate(instance.loops)}
    for n, (side, place) in enumerate(order(instance.path), 1):
        at = instance.path[:n]
        inside = n < len(instance.path) or at in counters
        yield f"{place + side * _ELSE}"
        yield f"{int(inside)}"
        yield counters.get(at, "0")
    for _ in range(depth - len(instance.path)):
        yield from ("-1", "0", "0")
    yield f"{int(access.write)}"


_ELSE = 1 << 20
"""The places of statements in an else branch are behind those of the then branch."""
