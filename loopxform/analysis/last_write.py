"""Last values of an array: what do the iterations of some loops leave in it?

    the last iteration alone  iff  no iteration reads an element that it has not written before, and
        { x : some iteration may write A[x] }  lies in  { x : the last one writes A[x] for certain }

Both sets are taken for the same sizes and the same iteration of the loops further out; where the
loops have no iteration, both are empty. (Array privatisation with copy-out: Tu and Padua, 1993;
`lastprivate` in OpenMP.)
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from loopxform.analysis import sets
from loopxform.analysis.accesses import Access
from loopxform.analysis.domain import iterations, restricted
from loopxform.analysis.extent import index_names
from loopxform.analysis.formula import Translator
from loopxform.analysis.linear import (
    TRUE,
    Constraint,
    Dnf,
    conj_names,
    conjoin,
    equal,
    plus,
    rename_conj,
    times,
)
from loopxform.analysis.privatise import exposed_read
from loopxform.analysis.region import Instance, Loop, Region, region
from loopxform.errors import Obstacle
from loopxform.ir.nodes import Expr, Function
from loopxform.ir.visit import Path
from loopxform.source import Loc

_Write = tuple[Instance, Access]


def last_writes(fn: Function, outer: Path, inner: Path, name: str) -> tuple[Path, ...] | Obstacle:
    """Statements that, in the last iteration of the loops from `outer` to `inner`, write all that
    any iteration writes to the array `name`; or why the last iteration does not tell. The bounds of
    the loops do not change in them, and all of the array's uses there are inside `inner`."""
    read = exposed_read(fn, inner, name)
    if read is not None:
        text = f"'{name}' may be read before it is written in an iteration"
        remedy = f"write {name} first in the body of the loop"
        return Obstacle("LX143", text, read if isinstance(read, Loc) else None, remedy=remedy)
    where = region(fn, outer)
    found = [(i, a) for i in where.instances for a in i.accesses if a.storage.name == name]
    search = _Search(where, inner, [(i, a) for i, a in found if a.write])
    try:
        return search.result() or search.refuse(search.witness())
    except sets.TooHard:
        return search.refuse(None)


def overwrites(fn: Function, path: Path, name: str, shape: Sequence[Expr]) -> bool:
    """Whether each iteration of a loop writes all of an array, and before it reads of it: what the
    last one leaves is what the loop does."""
    if exposed_read(fn, path, name) is not None:
        return False
    where = region(fn, path)
    found = [(i, a) for i in where.instances for a in i.accesses if a.storage.name == name]
    search = _Search(where, path, [(i, a) for i, a in found if a.write])
    try:
        return search.fills(shape)
    except sets.TooHard:
        return False


class _Search:
    """The elements that the iterations write, and those that the last one does."""

    def __init__(self, where: Region, inner: Path, writes: list[_Write]) -> None:
        self.where, self.writes = where, writes
        seen = {x.path: x for i, _ in writes for x in i.loops}
        self.loops = [seen[p] for p in sorted(seen) if p == inner[: len(p)]]
        certain = (w for w in writes if w[0].sure and w[1].known)
        self.certain = sorted(certain, key=lambda w: len(w[0].loops))
        self.every = tuple(conj for w in writes for conj in _elements(*w, TRUE))

    def result(self) -> tuple[Path, ...] | None:
        """The statements, those in the fewest loops first; None where something else is written."""
        for w in self.certain:
            if _covers(self.every, [self._last(w)]):
                return (w[0].path,)
        kept: list[_Write] = []
        for w in self.certain:
            if not _covers(self._last(w), [self._last(x) for x in kept]):
                kept.append(w)
        if not _covers(self.every, [self._last(w) for w in kept]):
            return None
        return tuple(instance.path for instance, _ in kept)

    def fills(self, shape: Sequence[Expr]) -> bool:
        """Whether the last iteration writes every element of an array."""
        if not self.loops or self._finish is None:
            return False
        translator = Translator(self.where.names.at(self.loops[0].path, ()))
        whole: Dnf = self._finish
        for n, size in zip(index_names(len(shape)), shape):
            cases = translator.cases(size)
            if cases is None or not translator.known:
                return False
            first = Constraint(False, {n: 1})
            inside = (
                (first, Constraint(False, plus(lin, {n: -1, "": -1})), *c) for lin, c in cases
            )
            whole = conjoin(whole, tuple(inside))
        counters = {x.var for x in self.loops}
        renamed = (rename_conj(c, lambda n: f"${n}" if n in counters else n) for c in whole)
        return _covers(tuple(renamed), [self._last(w) for w in self.certain])

    def witness(self) -> str | None:
        """`t[1] at i=0 (n=2)`: an element that this iteration writes, and the last one does not."""
        if not all(i.sure and i.exact and a.exact for i, a in self.writes) or self._finish is None:
            return None
        counters = [x.var for x in self.loops]
        every = tuple(conj for w in self.writes for conj in _elements(*w, TRUE, counters))
        lasts = [self._last(w) for w in self.certain]
        dims = sorted({*_dims(every, *lasts), *counters})
        point = sets.uncovered(every, lasts, dims)
        if point is None or not self.where.inputs.issuperset(_sizes(point, counters)):
            return None
        name, rank = self.writes[0][1].storage.name, self.writes[0][1].storage.rank
        element = name + "".join(f"[{point[n]}]" for n in index_names(rank))
        at = ", ".join(f"{v}={point[v]}" for v in counters)
        sizes = ", ".join(f"{n}={point[n]}" for n in _sizes(point, counters))
        return f"{element} at {at}" + (f" ({sizes})" if sizes else "")

    def refuse(self, witness: str | None) -> Obstacle:
        name = self.writes[0][1].storage.name
        what = "does not write" if witness else "may not write"
        text = f"the last iteration {what} all elements of '{name}' that the others write"
        remedy = f"write the same elements of {name} in each iteration, under no condition"
        return Obstacle("LX144", text, self.writes[0][0].loc, witness, remedy)

    def _last(self, write: _Write) -> Dnf:
        """What a statement writes in the last iteration."""
        return () if self._finish is None else _elements(*write, self._finish)

    @cached_property
    def _finish(self) -> Dnf | None:
        """What holds in the last iteration: none of the loops has another. None: not known."""
        out = TRUE
        for loop in self.loops:
            found = _no_other(self.where, loop)
            if found is None:
                return None
            out = conjoin(out, found)
        return out


def _sizes(point: dict[str, int], counters: list[str]) -> list[str]:
    return [n for n in point if n[0] != "#" and n not in counters]


def _dims(*formulas: Dnf) -> list[str]:
    """The names that have one value on both sides of a question."""
    return sorted({n for dnf in formulas for c in dnf for n in conj_names(c) if n[0] != "$"})


def _covers(whole: Dnf, parts: list[Dnf]) -> bool:
    return sets.covers(whole, parts, _dims(whole, *parts))


def _elements(instance: Instance, access: Access, also: Dnf, shown: Sequence[str] = ()) -> Dnf:
    """The elements of an access at the iterations of its statement that `also` holds for, over
    `#0, #1, ...` and numbers that have one value; the loops count `$i`, but for those `shown`."""
    own = {x.var for x in instance.loops} - set(shown)
    index = index_names(access.storage.rank)
    named = [
        (*when, *(equal({n: 1}, x) for n, x in zip(index, subscripts) if x is not None))
        for subscripts, when in access.cases
    ]
    found = conjoin(conjoin(instance.domain, tuple(named)), also)
    return tuple(rename_conj(c, lambda n: f"${n}" if n in own else n) for c in found)


def _no_other(where: Region, loop: Loop) -> Dnf | None:
    """An iteration, with i + step >= hi, or <= hi where the loop counts down. (That there is the
    iteration is asked again: domains that have too many cases lose conditions.)"""
    translator = Translator(where.names.at(loop.path, (loop.var,)))
    begins, bounds = translator.cases(loop.node.lo), translator.cases(loop.node.hi)
    there = iterations(loop.node, translator)
    if begins is None or bounds is None or not translator.known or not loop.sign:
        return None
    ahead = {loop.var: 1, "": loop.sign * loop.step}
    last = tuple(
        (Constraint(False, times(plus(ahead, hi, -1), loop.sign)), *when) for hi, when in bounds
    )
    found, few = restricted(there, last)
    return found if few else None
