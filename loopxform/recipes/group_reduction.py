"""A reduction by the work-items of one group:

    forall i: { code1; for k: s += e; code2 }
 -> forall i (a group): part[Tx]
      forall t: part[t] = sum of every Tx-th e from the t-th on        neighbours read neighbours
      forall t < F: part2[t] = sum of every F-th part                  barriers between
      { code1; for c < F: s += part2[c]; code2 }                       the first work-item

Places of extrema are combined by two loops, which every work-item runs (`intra_group`).
(Cholewa-Madsen and Holst, section 7.3.1, where there are few results.)
"""

from __future__ import annotations

from math import isqrt
from typing import ClassVar

from loopxform.analysis.reductions import reductions
from loopxform.errors import UnsupportedC
from loopxform.ir.affine import poly
from loopxform.ir.names import fresh
from loopxform.ir.nodes import Assign, Decl, For, Stmt, Var
from loopxform.ir.typing import symbols, type_of
from loopxform.ir.visit import declared, resolve, walk
from loopxform.model.choice import Choice
from loopxform.model.footprint import linear
from loopxform.model.reuse import Facts
from loopxform.prepare.parallel_band import Nest, sequential
from loopxform.recipes.base import Mapped, Question
from loopxform.recipes.deriving import Work
from loopxform.recipes.intra_group import IntraGroup
from loopxform.recipes.kept_in_order import is_reduced, kept_in_order
from loopxform.recipes.staged_tiles import pair
from loopxform.schedule.params import Options, Recipe, Tiles
from loopxform.targets.target import Limits
from loopxform.transforms import (
    MapTo,
    Parallelise,
    PromoteToLocal,
    Rfactor,
    UnitLoop,
)
from loopxform.transforms.reductions.partial import PLACES
from loopxform.transforms.restructure.unit_loop import BESIDE

IN_TURN = Tiles(Ty=1, Tx=1, Tk=64, Ry=1, Rx=1)
"""Of a device that runs the work-items of a group in turn: one alone reads terms that follow one
another, and its compiler has these in vectors. A sum of 2^24 ints takes 5.0 ms on PoCL with two
cores, and 17.7 with 256 work-items."""


class GroupReduction:
    name: ClassVar[Recipe] = "reduce"

    def match(self, question: Question) -> Choice | str:
        """Where there is one loop that reduces, and its neighbouring iterations read neighbours in
        memory, which the parallel loops' do not."""
        facts = question.facts
        reductions = sequential(facts.nest.innermost.body)
        if len(reductions) != 1:
            return f"{len(reductions)} sequential loops inside the parallel ones, not one"
        k = reductions[0].var
        if not question.asked and (pair(facts, asked=False) or not _along(facts, k)):
            return "work-items along the parallel loops read neighbours, or the same"
        alone = question.few and question.limits.warp == 1
        if not question.asked and not is_reduced(facts.nest):
            return kept_in_order(facts.nest) or f"the loop over '{k}' is no sum that a group shares"
        in_turn = alone and _in_any_order(facts.nest, reductions[0])
        tiles = IN_TURN if in_turn else None
        return Choice("reduce", (), k, group=("Tx",), tiles=tiles, shared=((k,),))

    def map(self, w: Work, nest: Nest, choice: Choice, options: Options, limits: Limits) -> Mapped:
        in_group(w, nest, limits, options)
        return Mapped(choice)


def in_group(w: Work, nest: Nest, limits: Limits, options: Options) -> None:
    """Maps each iteration of the parallel loops to a group of Tx work-items. Raises UnsupportedC
    where there is not one sequential loop or what is before it is no work of all work-items,
    TransformError where a step is refused."""
    if (place := _found_place(w, nest)) is not None:
        shared = Choice("group", (), place, group=("Tx",), shared=((place,),))
        IntraGroup().map(w, nest, shared, options, limits)
        return
    allowed = "reassociate" if options.reassociate else ""
    known = {s.name for _, s in walk(w.fn.body) if isinstance(s, Decl)}
    w.stage("Partial results of the work-items of a group")
    w.do(Rfactor(_reduction(w, nest).var, w.size("Tx"), allowed, "strided"))
    if w.sizes["Tx"] > limits.costs.combined_alone:
        fan = 1 << (isqrt(w.sizes["Tx"] - 1).bit_length())
        w.do(Rfactor(_reduction(w, nest).var, str(fan), allowed, "strided"))
    first = fresh(w.fn, "once")
    w.do(UnitLoop(_reduction(w, nest).var, BESIDE, first), Parallelise(first))
    body = _body(w, nest)
    _require_common(nest, body)
    w.stage("Mapping each result to a group")
    w.do(*(MapTo(v, "group.x") for v in nest.parallel))
    w.do(*(MapTo(s.var, "thread.x") for s in body if isinstance(s, For)))
    made = (s for s in body if isinstance(s, Decl) and s.shape and s.name not in known)
    w.do(*(PromoteToLocal(s.name) for s in made))


def _found_place(w: Work, nest: Nest) -> str | None:
    """The loop, if it finds places of extrema, which two loops over the parts combine."""
    var = _reduction(w, nest).var
    path = resolve(w.fn, var)[0].path
    return var if any(r.op in PLACES for r in reductions(w.fn, path)) else None


def _body(w: Work, nest: Nest) -> tuple[Stmt, ...]:
    return Nest(w.derivation, nest.parallel, nest.path).innermost.body


def _reduction(w: Work, nest: Nest) -> For:
    """The only sequential loop."""
    found = sequential(_body(w, nest))
    if len(found) == 1:
        return found[0]
    raise UnsupportedC(
        f"{len(found)} sequential loops inside the parallel ones, not one",
        loc=nest.innermost.origin.loc,
        code="LX063",
        help="distribute the parallel loops around each of them",
    )


def _require_common(nest: Nest, body: tuple[Stmt, ...]) -> None:
    """What is before the partial results is computed by every work-item: it may not write to
    memory, nor set what is declared further out."""
    before = [s for s in body if not (isinstance(s, For) and s.parallel)]
    own = declared(body)
    for _, s in walk(tuple(before)):
        if isinstance(s, Assign) and not (isinstance(s.target, Var) and s.target.name in own):
            name = s.target.name if isinstance(s.target, Var) else s.target.array
            raise UnsupportedC(
                f"'{name}' is written before the reduction that needs it",
                loc=s.origin.loc or nest.innermost.origin.loc,
                code="LX063",
                help="write it in a nest of its own",
            )


def _in_any_order(nest: Nest, loop: For) -> bool:
    """Whether a compiler may add up in vectors: integers."""
    types = symbols(nest.function)
    found = (type_of(s.target, types) for _, s in walk(loop.body) if isinstance(s, Assign))
    return all(type.is_integer for type in found)


def _along(facts: Facts, k: str) -> bool:
    """Whether more reads of the reduction walk along k than along any parallel loop, or none does
    along one of these."""
    last = [poly(r.index[-1]) for r in facts.reduced]
    score = {v: sum(linear(p, v) in (1, -1) for p in last) for v in (k, *facts.nest.parallel)}
    mine, others = score.pop(k), max(score.values())
    return mine > others or not others
