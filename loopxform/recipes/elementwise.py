"""Several elements a work-item, a group apart, where nothing is used again:

    forall i: b[i] = f(a[i])
 -> forall i_g (a group): for i_c < Rx (unrolled): forall i < Tx: b[i] = f(a[i])
    forall y, x: b[y, x] = f(a[y, x])
 -> forall y_g, x_g (a group): for y_c < Ry (unrolled): forall y < Ty, x < Tx: ...

A work-item has several reads on their way at a time, where it would have one, and neighbours still
touch neighbours. Fits nests without loops inside whose accesses are all along the innermost loop,
on devices that need it to copy at the rate of their memory. (Volkov, "Better performance at lower
occupancy", GTC 2010.)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from loopxform.errors import Obstacle, TransformError
from loopxform.ir.affine import Poly, poly, value_of
from loopxform.ir.names import fresh
from loopxform.ir.nodes import Assign, Decl, If, Load, Stmt
from loopxform.ir.visit import loads, perfect_nest, stmt_exprs, walk
from loopxform.model.choice import Choice
from loopxform.model.footprint import linear
from loopxform.model.reuse import Dim
from loopxform.prepare.parallel_band import Nest
from loopxform.recipes.base import FAR_APART, ONE_ELEMENT, Mapped, Question
from loopxform.recipes.deriving import Work, levels
from loopxform.schedule.params import Options, Recipe, Tiles
from loopxform.targets.target import Limits
from loopxform.transforms import MapTo, SeparateFullTiles, Sequentialise, Stripmine, Unroll
from loopxform.transforms.edges.bounds import trip_count


class Elementwise:
    name: ClassVar[Recipe] = "elementwise"

    def match(self, question: Question) -> Choice | str:
        nest, most = question.facts.nest, question.costs.elements
        if most < 2 and not question.asked:
            return ONE_ELEMENT
        if not _is_elementwise(nest):
            return FAR_APART
        *outer, x = nest.parallel[-2:]
        if not outer:
            return Choice(self.name, (Dim(x, "Tx", "Rx"),), x, tiles=Tiles(1, 256, Ry=1, Rx=most))
        chain = perfect_nest(nest.outermost)[: len(nest.parallel)]
        trips = value_of(trip_count(chain[-2])) or 2 * most
        down = max(1, min(2, trips))
        rows = Tiles(Ty=down, Tx=128, Ry=min(most, -(-trips // down)), Rx=1)
        return Choice(self.name, (Dim(outer[0], "Ty", "Ry"), Dim(x, "Tx")), x, tiles=rows)

    def map(self, w: Work, nest: Nest, choice: Choice, options: Options, limits: Limits) -> Mapped:
        del options, limits  # nothing is staged
        *others, y, x = ("", *nest.parallel) if len(nest.parallel) == 1 else nest.parallel
        w.stage("Several elements for each work-item, a group apart")
        if not y:
            groups, steps = [_group(w, x)], [fresh(w.fn, f"{x}_c")]
            w.do(Stripmine(x, w.size("Tx", "Rx"), groups[0]), Stripmine(x, w.size("Tx"), steps[0]))
        else:
            _require_rows(nest, y, w.sizes["Ty"])
            rows, columns = _group(w, y), _group(w, x)
            step = fresh(w.fn, f"{y}_c")
            w.do(Stripmine(y, w.size("Ty", "Ry"), rows), Stripmine(y, w.size("Ty"), step))
            w.do(Stripmine(x, w.size("Tx"), columns))
            w.order([rows, step, y, columns, x], [rows, columns, step, y, x])
            groups, steps = [rows, columns], [step]
        w.do(*(Sequentialise(v) for v in steps))
        w.stage("Mapping to groups and work-items")
        w.do(*(MapTo(v, "group.z") for v in others if v))
        w.do(*(MapTo(v, f"group.{axis}") for v, axis in zip(groups, "yx"[-len(groups) :])))
        w.do(*(MapTo(v, f"thread.{axis}") for v, axis in zip((x, y), "xy") if v))
        if w.attempt(SeparateFullTiles(groups[-1])):
            w.attempt(*(Unroll(f"{v}#1") for v in steps))
        return Mapped(choice, group=groups[0])


def _require_rows(nest: Nest, y: str, items: int) -> None:
    """Raises TransformError where there are fewer rows than work-items along them."""
    loop = next(x for x in perfect_nest(nest.outermost) if x.var == y)
    trips = value_of(trip_count(loop))
    if trips is not None and trips < items:
        text = f"the loop over '{y}' has {trips} iterations, fewer than Ty = {items}"
        raise TransformError("stripmine", (Obstacle("LX025", text, loop.origin.loc),))


def _group(w: Work, loop: str) -> str:
    return levels(w.fn, Dim(loop, "Tx")).group


def _is_elementwise(nest: Nest) -> bool:
    """Whether neighbours touch neighbours in every access, one element of each array in an
    iteration, without loops inside the nest; what is invariant to one of the parallel loops is
    little beside the rest, wherever it lies."""
    x, body = nest.parallel[-1], nest.innermost.body
    places: dict[str, set[tuple[Poly, ...]]] = {}
    for e in _elements(body):
        if not _is_invariant(e, nest.parallel):
            places.setdefault(e.array, set()).add(tuple(map(poly, e.index)))
    return (
        bool(places)
        and all(isinstance(s, Assign | Decl | If) for _, s in walk(body))
        and all(len(found) == 1 for found in places.values())
        and all(_is_along(index, x) for found in places.values() for index in found)
    )


def _is_invariant(e: Load, parallel: tuple[str, ...]) -> bool:
    """Whether an access is affine, and the same in all iterations of a parallel loop."""
    index = tuple(map(poly, e.index))
    is_affine = all(linear(p, v) is not None for p in index for v in parallel)
    if not is_affine or any(True for i in e.index for _ in loads(i)):
        return False
    return not all(any(p.mentions(v) for p in index) for v in parallel)


def _elements(body: tuple[Stmt, ...]) -> Iterator[Load]:
    for _, s in walk(body):
        for e in stmt_exprs(s):
            yield from loads(e)


def _is_along(index: tuple[Poly, ...], x: str) -> bool:
    *others, last = index
    return linear(last, x) in (-1, 0, 1) and not any(p.mentions(x) for p in others)
