"""Room in arrays: what an iteration that runs says about sizes, for it stays inside its arrays.

    room(S) = and of 0 <= x and x < extent, for each subscript x of each statement that runs where S
              runs, of an array whose size is declared

Where `int t[100]` is declared, `t[i] = t[i + 50]` has no iteration 50: no program has a collision
for which it would need one. What is not known of a subscript or a size says nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from loopxform.analysis.accesses import Access, Storage
from loopxform.analysis.formula import Translator
from loopxform.analysis.linear import Conj, Lin, at_least, const
from loopxform.analysis.region import Instance, Region
from loopxform.ir.nodes import Decl, Expr, Load
from loopxform.ir.visit import Path, at

Where = tuple[int, tuple[Path, ...]]


def where(x: Instance) -> Where:
    """The iterations of a statement, as they are compared."""
    return id(x.domain), tuple(loop.path for loop in x.loops)


class Rooms:
    """The rooms of the statements of a region, each found once."""

    def __init__(self, region: Region) -> None:
        self.region = region
        self.params = {p.name: p for p in region.fn.objects}
        self.together: dict[Where, list[Instance]] = {}
        for x in region.instances:
            if x.exact:
                self.together.setdefault(where(x), []).append(x)
        self._known: dict[Where, Conj] = {}

    def of(self, x: Instance) -> Conj:
        """The room of one iteration of a statement."""
        key = where(x)
        if key not in self._known:
            accesses = (a for peer in self.together.get(key, ()) for a in peer.accesses)
            self._known[key] = tuple(c for a in accesses for c in self._inside(a))
        return self._known[key]

    def _inside(self, a: Access) -> Conj:
        if not isinstance(a.expr, Load) or a.guards or not a.exact or len(a.cases) != 1:
            return ()
        subscripts, when = a.cases[0]
        bounds = [
            bound
            for d, (x, size) in enumerate(zip(subscripts, self._shape(a.storage)))
            if x is not None and size is not None
            for end, also in self._numbers(a, size)
            for bound in (*also, *self._within(a.storage, d, x, end))
        ]
        return (*when, *bounds) if bounds else ()

    def _within(self, storage: Storage, d: int, x: Lin, end: Lin) -> Conj:
        """A size is above 0; a parameter may point into the middle of more rows than it states."""
        p = self.params.get(storage.name) if storage.decl is None else None
        if d == 0 and p is not None and (p.pointer or not p.is_global):
            return (at_least(end, const(1)),)
        return at_least(x, {}), at_least(end, x, 1)

    def _shape(self, storage: Storage) -> tuple[Expr | None, ...]:
        """The declared extents; what is recovered from subscripts, or of members, says nothing."""
        if storage.decl is not None:
            declared = at(self.region.fn, storage.decl)
            return declared.shape if isinstance(declared, Decl) else ()
        p = self.params.get(storage.name)
        return () if p is None or p.flat or p.rows or p.is_member else p.shape

    def _numbers(self, a: Access, size: Expr) -> Iterator[tuple[Lin, Conj]]:
        translator = Translator(a.names)
        found = translator.cases(size)
        if found is not None and len(found) == 1 and translator.exact:
            yield found[0]
