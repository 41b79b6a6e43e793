"""Array expansion: { T x; ... x ... } inside loops i, j -> T x[I, J]; for i: for j: ... x[i, j] ...

Every iteration gets its own element of what used to be its own scalar (or array), declared outside
the loops, so that the loops can be distributed. Always legal for storage declared inside the loops:
it is written anew in each iteration and does not live past it. The trip counts must be known before
the outermost of the loops. (Cholewa-Madsen and Holst, step 3a, listing 5.)

An array that lives longer gets its last values back: for i: { x[k] = ...; ... x[k] ... } ->
T y[I, K]; for i: { y[i, k] = ...; ... y[i, k] ... } if (0 < I) for k: x[k] = y[I - 1, k]. Legal
where each iteration writes what it reads of x before it reads it, and the last one certainly writes
all that any of them writes.

A copy in private memory of a few elements is expanded as well; these are loaded one by one then.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from math import prod
from typing import ClassVar

from loopxform.analysis.context import always
from loopxform.errors import Obstacle
from loopxform.ir.affine import simplify, value_of
from loopxform.ir.nodes import Assign, Bin, Const, Copy, Decl, Expr, For, Function, Load, Stmt, Var
from loopxform.ir.types import Space
from loopxform.ir.visit import (
    LoopSite,
    Path,
    at,
    enclosing,
    map_body,
    map_exprs,
    names,
    replace_at,
    walk,
    writes,
)
from loopxform.records import record
from loopxform.transforms.base import Step
from loopxform.transforms.edges.bounds import iteration_number, positive, trips
from loopxform.transforms.sites import fixed_header
from loopxform.transforms.storage.last_values import Outliving, array_outside, outliving

FEW = 8
"""Elements of a copy that are loaded one by one."""


@record
class Expand(Step):
    """Expands storage declared inside `loops` (outermost first) by one dimension per loop."""

    name: str
    loops: tuple[str, ...]

    verb: ClassVar[str] = "expand"
    usage: ClassVar[str] = "expand NAME LOOP,LOOP,...   (outermost loop first)"

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        outside = self._outside(fn)
        if outside is None:
            return self._check_inside(fn)
        return outside.obstacles() if isinstance(outside, Outliving) else outside

    def _outside(self, fn: Function) -> Outliving | tuple[Obstacle, ...] | None:
        array = array_outside(fn, self.name, self.loops) if self.loops else None
        return None if array is None else outliving(fn, array, self.loops)

    def _check_inside(self, fn: Function) -> tuple[Obstacle, ...]:
        """Storage declared in the loops."""
        found = _declaration(fn, self.name, self.loops)
        if isinstance(found, Obstacle):
            return (found,)
        if any(isinstance(s, For) and s.var == self.name for _, s in walk(fn.body)):
            return (
                Obstacle(
                    "LX140",
                    f"'{self.name}' counts a loop, which has one variable",
                    at(fn, found).origin.loc,
                    remedy="expand what the iterations compute",
                ),
            )
        around = _around(fn, found)
        missing = [v for v in self.loops if v not in [loop.var for loop in around]]
        if missing or not self.loops:
            return (self._not_around(fn, found, missing),)
        chosen = self._chosen(around)
        skipped = [loop for loop in chosen if loop.parallel and loop.var not in self.loops]
        shared = tuple(
            Obstacle(
                "LX141",
                f"'{self.name}' would be shared by the iterations of the parallel loop over "
                f"'{loop.var}'",
                loop.origin.loc,
                remedy=f"expand over '{loop.var}' too",
            )
            for loop in skipped
        )
        return (
            shared
            or self._copied(chosen[0])
            or (*self._moved(fn, found, chosen), *self._counts(chosen))
        )

    def _copied(self, outermost: For) -> tuple[Obstacle, ...]:
        """One declaration is expanded: a copied loop (an epilogue) has one of its own."""
        places = [s for _, s in walk(outermost.body) if isinstance(s, Decl) and s.name == self.name]
        if len(places) == 1:
            return ()
        return (
            Obstacle(
                "LX140",
                f"'{self.name}' is declared {len(places)} times in the loop over '{outermost.var}'",
                places[-1].origin.loc,
                remedy="expand before loops are copied",
            ),
        )

    def _moved(self, fn: Function, path: Path, chosen: list[For]) -> tuple[Obstacle, ...]:
        """The declaration moves out of the loops: what it mentions must not change in there, nor
        may the bounds that number the iterations; a staged copy is not moved at all, unless it is
        of a few elements that a work-item keeps."""
        decl = at(fn, path)
        assert isinstance(decl, Decl)
        inside = {loop.var for loop in chosen} | writes(chosen[0].body)
        shape = {n for d in decl.shape for n in names(d)} & inside
        staged = decl.space is not None and _few_elements(chosen[0], decl) is None
        if shape or staged:
            why = f"its extent depends on '{min(shape)}'" if shape else "it is a staged copy"
            return (
                Obstacle(
                    "LX146",
                    f"'{self.name}' cannot be declared outside of '{chosen[0].var}': {why}",
                    decl.origin.loc,
                    remedy="expand over fewer loops" if shape else "expand before staging",
                ),
            )
        own = [LoopSite((), loop) for loop in chosen if loop.var in self.loops]
        return tuple(o for site in own for o in fixed_header(site))

    def _not_around(self, fn: Function, path: Path, missing: list[str]) -> Obstacle:
        around = ", ".join(loop.var for loop in _around(fn, path)) or "none"
        return Obstacle(
            "LX140",
            f"'{self.name}' is not declared inside a loop over '{''.join(missing[:1])}'",
            enclosing(fn, path)[-1].origin.loc,
            remedy=f"the loops around its declaration are: {around}",
        )

    def _counts(self, chosen: list[For]) -> tuple[Obstacle, ...]:
        inside = {loop.var for loop in chosen} | writes(chosen[0].body)
        return tuple(
            Obstacle(
                "LX142",
                f"the trip count of '{loop.var}' is not known before the loop over "
                f"'{chosen[0].var}'",
                loop.origin.loc,
                remedy="stripmine it by a tile size, or expand over fewer loops",
            )
            for loop in chosen
            if loop.var in self.loops and _extent(loop, inside) is None
        )

    def _chosen(self, around: tuple[For, ...]) -> list[For]:
        """From the outermost loop named to the declaration."""
        first = next(n for n, loop in enumerate(around) if loop.var in self.loops)
        return list(around[first:])

    def rewrite(self, fn: Function) -> Function:
        outside = self._outside(fn)
        if isinstance(outside, Outliving):
            return outside.expanded(str(self))
        path = _declaration(fn, self.name, self.loops)
        assert not isinstance(path, Obstacle)
        parents = enclosing(fn, path)
        decl = parents[-1]
        assert isinstance(decl, Decl)
        chosen = self._chosen(_around(fn, path))
        inside = {loop.var for loop in chosen} | writes(chosen[0].body)
        index = tuple(iteration_number(x) for x in chosen if x.var in self.loops)
        sizes = tuple(_extent(x, inside) for x in chosen if x.var in self.loops)
        outer_path = path[: parents.index(chosen[0]) + 1]
        found = [s for s in sizes if s is not None]
        shape = tuple(_positive(fn, outer_path, s) for s in (*found, *decl.shape))
        outermost = parents[len(outer_path) - 1]
        assert isinstance(outermost, For)
        inside_loop = _without(outermost.body, self.name)
        if decl.space is not None:
            inside_loop = map_body(inside_loop, lambda s: _loaded(s, decl))
        body = map_exprs(inside_loop, self._renamed(index))
        wide = replace(decl, shape=shape, space=None, origin=decl.origin.then(str(self)))
        return replace_at(fn, outer_path, (wide, replace(outermost, body=body)))

    def _renamed(self, index: tuple[Expr, ...]):  # type: ignore[no-untyped-def]
        def f(e: Expr) -> Expr:
            if isinstance(e, Var) and e.name == self.name:
                return Load(self.name, index, origin=e.origin)
            if isinstance(e, Load) and e.array == self.name:
                return replace(e, index=(*index, *e.index))
            return e

        return f

    def reason(self, fn: Function) -> str:
        if self._outside(fn) is not None:
            return f"each iteration writes what it reads of {self.name}, the last one all of it"
        return f"{self.name} is private to an iteration; each now has its own element"


def _declaration(fn: Function, name: str, loops: tuple[str, ...]) -> Path | Obstacle:
    """Where `name` is declared inside a loop: inside all of these where it is declared several
    times."""
    places = [p for p, s in walk(fn.body) if isinstance(s, Decl) and s.name == name]
    inside = [p for p in places if {*loops} <= {x.var for x in _around(fn, p)}]
    if places:
        return (inside or places)[0]
    is_object = any(p.name == name for p in fn.objects)
    what = "belongs to the caller" if is_object else "is not declared in a loop"
    return Obstacle(
        "LX140",
        f"'{name}' {what}",
        fn.origin.loc,
        remedy="expansion is for storage declared inside loops; 'privatise' moves it there",
    )


def _around(fn: Function, path: Path) -> tuple[For, ...]:
    return tuple(s for s in enclosing(fn, path)[:-1] if isinstance(s, For))


def _few_elements(outermost: For, decl: Decl) -> Copy | None:
    """The one copy that fills a small array of a work-item, of so many elements in the source;
    None where there is another."""
    copies = [s for _, s in walk(outermost.body) if isinstance(s, Copy) and s.target == decl.name]
    if decl.space is not Space.PRIVATE or len(copies) != 1:
        return None
    (copy,) = copies
    sizes = [value_of(e) for e in decl.shape]
    whole = all(x.limit is None and x.floor is None and not x.repeats for x in copy.slices)
    few = None not in sizes and prod(n or 0 for n in sizes) <= FEW
    return copy if few and whole and not copy.collective and copy.width == 1 else None


def _loaded(s: Stmt, decl: Decl) -> tuple[Stmt, ...]:
    """The copy that fills `decl`, element by element."""
    if not (isinstance(s, Copy) and s.target == decl.name):
        return (s,)
    loaded = []
    for place in product(*(range(value_of(e) or 0) for e in decl.shape)):
        own = iter(place)
        source = tuple(
            x.lo if x.size is None else Bin("+", x.lo, Const(next(own))) for x in s.slices
        )
        target = Load(s.target, tuple(map(Const, place)))
        label = f"load_{s.source}_{'_'.join(map(str, place))}"
        loaded.append(
            Assign(
                target, Load(s.source, tuple(map(simplify, source))), label=label, origin=s.origin
            )
        )
    return tuple(loaded)


def _positive(fn: Function, path: Path, extent: Expr) -> Expr:
    known = always(fn, path, Bin(">=", extent, Const(1)))
    return extent if known else positive(extent)


def _extent(loop: For, inside: frozenset[str] | set[str]) -> Expr | None:
    return trips(loop, lambda e: not names(e) & inside)


def _without(body: tuple[Stmt, ...], name: str) -> tuple[Stmt, ...]:
    return map_body(body, lambda s: () if isinstance(s, Decl) and s.name == name else (s,))
