"""How much of an array a function touches: per dimension the least upper bound of the subscripts.

    touched(A) = { (params, x) : an access of A at an iteration of its domain has subscript x }
    extent[d]  = max { x[d] : touched } + 1, as an expression over the parameters

The host needs it where C does not state a dimension: it may copy what the user's program touches,
and never more. A subscript that may be negative, of an array whose dimensions are not all declared,
or one that is not affine, has no extent (with the reason).
What may be touched (under a condition on data, say) counts for nothing where all of it is touched
for certain elsewhere, in the other branch too, and has no extent otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field, replace
from functools import reduce

from loopxform.analysis import boxes
from loopxform.analysis.accesses import Access
from loopxform.analysis.boxes import all_of, to_expr
from loopxform.analysis.conjunctions import covers, identity, negated
from loopxform.analysis.context import always
from loopxform.analysis.domain import names_of
from loopxform.analysis.either_way import with_common_accesses
from loopxform.analysis.formula import Translator
from loopxform.analysis.linear import (
    Conj,
    Constraint,
    Lin,
    at_least,
    conj_names,
    equal,
    rename_conj,
)
from loopxform.analysis.region import Instance, region
from loopxform.analysis.sets import TooHard
from loopxform.analysis.simple_boxes import simple_box
from loopxform.analysis.system import eliminate, feasible
from loopxform.analysis.told_ends import told_end
from loopxform.errors import Obstacle
from loopxform.ir.memo import Table, remembered
from loopxform.ir.nodes import Bin, Const, Expr, Function
from loopxform.ir.visit import walk_expr, writes
from loopxform.records import record
from loopxform.source import Loc

NOT_AFFINE = "a subscript or its iterations are not affine"
FEW = 8
"""Parts that are compared with each other."""
ON_DATA = "a condition on data, or a bound that is not affine, decides"


@record
class Extent:
    """`upper[d]` is the exclusive upper bound of dimension d over scalar parameters, valid where
    `when` holds (None: always); elsewhere the array is not touched. `corner` says that the element
    with the greatest index in every dimension is itself touched wherever `when` holds; where it is
    not, `last` are the subscripts of the last element that is, if they are known."""

    array: str
    upper: tuple[Expr, ...]
    when: Expr | None
    corner: bool
    last: tuple[Expr, ...] | None = None
    padded: bool = False
    """That devices are given whole rows, whether the caller's last one is whole or not."""
    parts: tuple[Conj, ...] = field(default=(), compare=False, repr=False)
    """The elements, over `#0, #1, ...` and the scalars of the caller's."""


@record
class NoExtent:
    """Why the touched part of an array cannot be told."""

    array: str
    obstacle: Obstacle = field(compare=False)
    untouched: bool = False
    """That no element ever is."""


def index_names(rank: int) -> tuple[str, ...]:
    """What the subscripts of an element are called in conjunctions."""
    return tuple(f"#{d}" for d in range(rank))


def extent(fn: Function, array: str) -> Extent | None:
    """The touched box of an array parameter or global; None where it cannot be told (see
    `explain`) or the function never touches it."""
    found = explain(fn, array)
    return found if isinstance(found, Extent) else None


def existing_box(fn: Function, array: str) -> Extent | None:
    """The extent, where all elements of the box are there: rows of a declared shape are whole, what
    a pointer leads to ends with the last element that is touched. It lies in that of the program
    that steps began with: no more is passed to kernels, whatever is known of subscripts now. Steps
    that assume nothing of the sizes leave it as it was."""
    if fn.start is None:
        found = extent(fn, array)
    else:
        passed = extent(fn.start, array)
        known = passed is not None and passed.corner and fn.assumes == fn.start.assumes
        found = passed if known else _inside_of(fn, extent(fn, array), passed) or passed
    param = next((p for p in fn.objects if p.name == array), None)
    ends_inside = param is not None and param.flat and len(param.shape) > 1
    return None if found is not None and ends_inside and not _has_corner(found) else found


def _has_corner(found: Extent) -> bool:
    return found.corner or found.padded


def _inside_of(fn: Function, found: Extent | None, passed: Extent | None) -> Extent | None:
    """The box that `fn` touches, if all of it is passed; it is passed when the other one is."""
    if found is None or passed is None or not (found.corner or not passed.corner):
        return None
    pairs = zip(found.upper, passed.upper)
    inside = all(always(fn, (), Bin("<=", mine, theirs)) for mine, theirs in pairs)
    return replace(found, when=passed.when) if inside else None


def explain(
    fn: Function, array: str, *, others: Sequence[str] = (), rank: int | None = None
) -> Extent | NoExtent:
    """The extent, or why there is none. With `others`, members of the same structs, and the `rank`
    of these: which of the structs are touched through any of them."""
    return _explained(fn, array, tuple(others), rank)


@remembered(16)
def _explained(
    fn: Function, array: str, others: tuple[str, ...], rank: int | None
) -> Extent | NoExtent:
    search = _Search(fn, array, others, rank)
    try:
        found = search.result()
    except TooHard:
        found = search.refuse("it is too hard to compute")
    told = None if isinstance(found, Extent) else told_end(fn, array)
    if told is None:
        return found
    return Extent(array, told.upper, told.when, False, told.last, padded=told.last is not None)


@remembered(8)
def with_plain_assumptions(fn: Function) -> Function:
    """Remainders in assumptions would be in every formula, and say nothing about extents."""
    assumes = tuple(e for e in fn.assumes if not any(map(_is_remainder, walk_expr(e))))
    return fn if assumes == fn.assumes else replace(fn, assumes=assumes)


def _is_remainder(e: Expr) -> bool:
    return isinstance(e, Bin) and e.op == "%"


def certain_parts(fn: Function, array: str) -> tuple[Conj, ...]:
    """The elements that are touched for certain, over `#0, #1, ...` and the scalars of the
    caller's. Raises TooHard."""
    return _Search(fn, array).certain


def conditions_from_zero(fn: Function, array: str) -> tuple[Expr, ...]:
    """The conditions on scalars of the caller's under which no subscript of an array is below 0,
    where one of these would be."""
    found = explain(fn, array)
    if isinstance(found, Extent) or not found.obstacle.message.endswith(_NEGATIVE):
        return ()
    return tuple(_Search(fn, array).asked())


_NEGATIVE = "a subscript may be negative"


class _Search:
    """The touched elements as conjunctions over `#0, #1, ...` (the subscripts) and parameters."""

    def __init__(
        self, fn: Function, array: str, others: Sequence[str] = (), rank: int | None = None
    ) -> None:
        fn = with_common_accesses(with_plain_assumptions(fn))
        self.fn, self.array, self.arrays = fn, array, {array, *others}
        declared = next((len(p.shape) for p in fn.objects if p.name == array), 0)
        self.rank = declared if rank is None else rank
        self.index = index_names(self.rank)
        self.scalars = names_of(fn).inputs
        self.keep = frozenset(self.index) | self.scalars
        self.reason: str | None = None
        self.certain: tuple[Conj, ...] = ()
        self.place = fn.origin.loc
        self.parts = self._touched()
        every = frozenset(k for part in self.parts for k in conj_names(part))
        self.params = tuple(sorted(every & self.scalars))

    def refuse(self, why: str) -> NoExtent:
        text = f"how much of '{self.array}' is touched cannot be told: {why}"
        if why == ON_DATA and self.array in writes(self.fn.body):
            remedy = f"use the element always: {self.array}[i] = test ? value : {self.array}[i]"
        elif why == ON_DATA:
            remedy = f"declare how many elements '{self.array}' has: {self.array}[n]"
        else:
            remedy = (
                f"declare how many elements '{self.array}' has: {self.array}[n]; or write its"
                " subscripts as affine expressions of loop variables and sizes"
            )
        return NoExtent(self.array, Obstacle("LX150", text, self.place, remedy=remedy))

    def _touched(self) -> list[Conj]:
        """The parts that are touched. What may be touched is no obstacle where it lies in a part
        that is touched for certain (`if (x[i] < 0) x[i] = 0`); an array with a declared shape has
        the elements that it says."""
        certain: dict[tuple[object, ...], Conj] = {}
        possible: list[tuple[Conj, str, Loc | None]] = []
        for instance in region(self.fn).instances:
            for access in instance.accesses:
                if access.storage.name not in self.arrays or access.storage.decl is not None:
                    continue
                rows = (subscripts[: self.rank] for subscripts, _ in access.cases)
                affine = all(x is not None for subscripts in rows for x in subscripts)
                for part, sure in self._parts(instance, access):
                    if sure and access.exact and instance.exact:
                        certain.setdefault(identity(part), part)
                    else:
                        possible.append((part, ON_DATA if affine else NOT_AFFINE, instance.loc))
        self.certain = tuple(certain.values())
        box, perhaps = self._declared(), list[Conj]()
        for part, why, place in possible:
            if any(covers(sure, part) for sure in certain.values()):
                continue
            inside = None if box is None else eliminate((*part, *box), self.keep)
            if box is None:
                self.reason, self.place = why, place
                break
            if inside is not None:
                perhaps.append(inside)
        return [*certain.values(), *perhaps]

    def _whole(self) -> Extent | None:
        """All that the array is declared to have."""
        if self._declared() is None:
            return None
        param = next(p for p in self.fn.objects if p.name == self.array)
        shape = tuple(d for d in param.shape[: self.rank] if d is not None)
        sizes = [Bin(">=", d, Const(1)) for d in shape if not isinstance(d, Const)]
        when = reduce(lambda a, b: Bin("&&", a, b), sizes) if sizes else None
        return Extent(self.array, shape, when, False, parts=tuple(self.parts))

    def _declared(self) -> Conj | None:
        """The elements the array is declared to have, where all its dimensions are stated."""
        param = next(p for p in self.fn.objects if p.name == self.array)
        out: list[Constraint] = []
        for name, size in zip(self.index, param.shape):
            found = None if size is None else Translator(names_of(self.fn)).cases(size)
            if found is None or len(found) != 1 or found[0][1]:
                return None
            out += [at_least({name: 1}, {}), at_least(found[0][0], {name: 1}, 1)]
        return tuple(out)

    def _parts(self, instance: Instance, access: Access) -> Iterator[tuple[Conj, bool]]:
        """The elements an access touches, or may touch, and whether it touches them for certain:
        what the function computes before (`use = mode == 9`) has one value, not any."""
        iterating = frozenset(x.var for x in instance.loops) | self.keep
        for domain in instance.domain:
            for subscripts, when in access.cases:
                whole = (*self._element(subscripts), *domain, *when)
                left = eliminate(whole, self.keep)
                if left is not None:
                    names = conj_names(whole) - iterating
                    yield left, all(name.startswith("$") for name in names)

    def _element(self, subscripts: Sequence[Lin | None]) -> Conj:
        named = zip(self.index, subscripts)
        return tuple(equal({name: 1}, x) for name, x in named if x is not None)

    def result(self) -> Extent | NoExtent:
        if self.reason is not None:
            return self.refuse(self.reason)
        if not self.parts:
            return replace(self.refuse("it is never touched"), untouched=True)
        if any(self._negative(part) for part in self.parts):
            inside = self._inside()
            if not inside:
                return self.refuse(_NEGATIVE)
            self.parts = inside
        return self._simple(self.parts) or self._simple(self._existing()) or self._general()

    def _simple(self, parts: Sequence[Conj]) -> Extent | None:
        """The greatest bound is the same in all."""
        found = simple_box(parts, self.index, self.params)
        if found is None:
            return None
        upper = tuple(to_expr(x) for x in found[0])
        return Extent(self.array, upper, all_of(found[1]), True, parts=tuple(parts))

    def _existing(self) -> list[Conj]:
        """The parts that no other one covers, where the scalars are such that they have elements
        which are there: of `a[i][0]` with a declared shape `[n][m]` the function says that
        1 <= m."""
        box = self._declared()
        if box is None or len(self.parts) > FEW:
            return self.parts
        runs = [eliminate((*part, *box), self.scalars) for part in self.parts]
        whole = [(*part, *(extra or ())) for part, extra in zip(self.parts, runs)]
        kept = [part for n, part in enumerate(whole) if not any(covers(x, part) for x in whole[:n])]
        return [x for n, x in enumerate(kept) if not any(covers(y, x) for y in kept[n + 1 :])]

    def _negative(self, part: Conj) -> dict[int, Conj]:
        """The elements of a part that are none: a subscript is below 0; by its dimension."""
        below = {d: (*part, Constraint(False, {n: -1, "": -1})) for d, n in enumerate(self.index)}
        return {d: conj for d, conj in below.items() if feasible(conj)}

    def _inside(self) -> list[Conj]:
        """The parts without subscripts below 0, where it is for the scalars alone to say that there
        are none: of `a[k][j]` with a declared shape the function says that 0 <= k, `a[i - 1]` for
        i = 0 is a mistake. Empty where that is not so. In front of the elements of a row, and of
        an array of the file, there is nothing: the scalars are such that no subscript is below 0,
        where there are such scalars."""
        box, scalars = self._declared(), self.scalars
        found: list[Conj] = []
        for part in self.parts:
            inside = None if box is None else eliminate((*part, *box), self.keep)
            runs = None if inside is None else eliminate(inside, scalars)
            if inside is None or runs is None:
                return []
            for d, negative in self._negative(part).items():
                cond = eliminate(negative, scalars)
                if cond is None or not conj_names(cond) | conj_names(runs) <= scalars:
                    return []
                mistaken = covers(cond, runs) if self._begins(d) else feasible((*runs, *cond))
                if mistaken:
                    return []
            found.append(inside)
        return found

    def asked(self) -> Iterator[Expr]:
        """The conditions on scalars under which no subscript is below 0, as far as there are such:
        of what makes one negative all but one holds whenever the part is touched."""
        set_here = writes(self.fn.body)
        for part in self.parts:
            runs = eliminate(part, self.scalars)
            for negative in self._negative(part).values():
                cond = eliminate(negative, self.scalars)
                if runs is None or cond is None or not conj_names(cond) <= self.scalars - set_here:
                    continue
                left = [c for c in cond if any(feasible((*runs, n)) for n in negated(c))]
                if len(left) == 1 and not left[0].eq and (e := all_of(negated(left[0]))):
                    yield e

    def _begins(self, d: int) -> bool:
        """Whether nothing is in front of what a subscript counts."""
        param = next(p for p in self.fn.objects if p.name == self.array)
        is_object = param.is_global and not (param.pointer or param.is_member)
        return not param.flat and (d > 0 or is_object)

    def _general(self) -> Extent | NoExtent:
        try:
            box = self._bounding_box(chosen=False)
        except boxes.NoFormula:
            if (whole := self._whole()) is not None:
                return whole
            try:
                box = self._bounding_box(chosen=True)
            except boxes.NoFormula as e:
                return self.refuse(str(e))
        return Extent(
            self.array, box.upper, box.when, box.corner, box.last, parts=tuple(self.parts)
        )

    def _bounding_box(self, *, chosen: bool) -> boxes.Box:
        """`boxes.bounding_box`: few steps change what is touched, and isl is slow."""
        own = frozenset((*self.index, *self.params))
        parts = tuple(identity(_numbered(x, own)) for x in self.parts)
        key = (self.index, self.params, chosen, parts)
        box = _boxes.get(key)
        if box is None:
            box = boxes.bounding_box(self.parts, self.index, self.params, chosen=chosen)
            _boxes.put(key, box)
        return box


_boxes = Table[boxes.Box](256)


def _numbered(part: Conj, own: frozenset[str]) -> Conj:
    """The same about its `own` names; the others stand for some integers, and are numbered."""
    others = {name: f" {n}" for n, name in enumerate(sorted(conj_names(part) - own))}
    return rename_conj(part, lambda name: others.get(name, name)) if others else part
