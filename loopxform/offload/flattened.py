"""Versions of a loop whose iterations hold parallelism between sequential loops:

    for o: { A(o);  for t: { for i: B(o, t, i);  for j: C(o, t, j) } }
      items   outer >= suff_outer_par_0    a work-item runs an iteration of o, in order
      flat                                 forall o: A
                                           for t (the host): forall o, i: B;  forall o, j: C

The loop moves inwards past sequential loops, until it stands around parallel ones; what its
iterations share across the parts gets a dimension more. (Seed 001, sections 2.3 and 2.4: V0, and
what flattening distributes and interchanges.)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from loopxform.analysis.verdict import LoopVerdict, judge
from loopxform.errors import LimitError, TransformError, UnsupportedC
from loopxform.ir.affine import value_of
from loopxform.ir.condition_text import condition_text
from loopxform.ir.names import fresh
from loopxform.ir.nodes import Bin, Decl, For, Function, Stmt, Tile
from loopxform.ir.visit import LoopSite, declared, loops, walk
from loopxform.model.saturation import filling_items
from loopxform.offload.array_expansion import lacks_room
from loopxform.offload.program_state import Part
from loopxform.prepare.perfect_nest import distributed, has_few_iterations, sunk, told_apart
from loopxform.recipes.deriving import Work
from loopxform.recipes.sink import sink
from loopxform.recipes.versions import is_counted
from loopxform.records import record
from loopxform.schedule.params import Options
from loopxform.targets.target import Limits
from loopxform.transforms import (
    Derivation,
    Dispatch,
    Parallelise,
    Privatise,
    Sequentialise,
    Variant,
    possible,
    thresholds_of,
)
from loopxform.transforms.edges.bounds import trip_count

PARALLEL = ("yes", "privatizable")


@record
class Offloaded:
    """The derivation, and what became of the parts of the function, in text order."""

    derivation: Derivation
    parts: tuple[Part, ...]

    @property
    def function(self) -> Function:
        return self.derivation.function


def in_versions(
    derivation: Derivation,
    mapped: Callable[[Derivation, frozenset[str]], Offloaded],
    limits: Limits,
    options: Options,
) -> Offloaded:
    """The program as it is `mapped`, or a choice between that and the flat version, where the whole
    function is one such loop. `mapped` is given the loops that are to stay the host's. Raises what
    it does."""
    alone, none = Derivation(derivation.function), frozenset[str]()
    flat = _flat(alone)
    if flat is None:
        return mapped(derivation, none)
    after = possible(lambda: mapped(*flat), UnsupportedC, TransformError, LimitError)
    if not isinstance(after, Offloaded):
        return mapped(derivation, none)
    fn = derivation.function
    (site,) = _tops(fn)
    items = mapped(alone, none)
    if [p.loops for p in items.parts] != [(site.loop.var,)]:
        return mapped(derivation, none)
    number = max(len(thresholds_of(x.derivation)) for x in (items, after))
    name = fresh(fn, f"suff_outer_par_{number}")
    value = dict(options.threshold).get(name, filling_items(limits))
    results = trip_count(site.loop)
    amount = value_of(results)
    enough = amount is not None and amount >= value
    if not _fits(items.function) or (amount is not None and not enough):
        return replace(after, derivation=derivation.extended(after.derivation))
    if enough:
        return mapped(derivation, none)
    guard = (condition_text(Bin("<", results, Tile(name, value))),)
    variants = (
        _variant("flat", "around each of the parallel loops inside", guard, after.derivation),
        _variant("items", "a work-item for each iteration, in order", (), items.derivation),
    )
    step = Dispatch(site.loop.var, variants, ((name, value),))
    joined = derivation.titled("Versions").tried(step)
    if isinstance(joined, TransformError):
        return mapped(derivation, none)
    return Offloaded(joined, (*after.parts, *items.parts))


def _variant(label: str, about: str, guard: tuple[str, ...], d: Derivation) -> Variant:
    steps = tuple(r.step for r in d.records)
    return Variant(label, about, "", guard, d.start.tiles, steps, d)


def _tops(fn: Function) -> list[LoopSite]:
    """The loops at the top of a function of nothing else but declarations."""
    others = [(n, s) for n, s in enumerate(fn.body) if not isinstance(s, Decl)]
    return [LoopSite((n,), s) for n, s in others if isinstance(s, For)] if len(others) == 1 else []


def _fits(fn: Function) -> bool:
    """Whether work-items can keep the arrays that are declared in kernels."""
    own = (d for s in fn.body if isinstance(s, For) for d in declared(s.body).values())
    return all(value_of(size) is not None for d in own for size in d.shape)


def _flat(start: Derivation) -> tuple[Derivation, frozenset[str]] | None:
    """The function with its loop moved inwards, and the loops that it was moved past; None where it
    is no such loop, or cannot be."""
    tops = _tops(start.function)
    verdicts = {v.var: v for v in judge(start.function, inlined=True)}
    if not tops or not is_counted(start.function, tops[0].loop):
        return None
    var = tops[0].loop.var
    around = _sequential_around(tops[0].loop, verdicts)
    own = verdicts.get(var)
    if own is None or own.parallel not in PARALLEL or not around:
        return None
    w = Work(start.titled(f"The loop over {var} around parallel loops"), {})
    w.attempt(*(Privatise(x, var) for x in own.shared))
    if w.refusal(Parallelise(var)) or _sunk(w, var, around) is not None:
        return None
    before = declared(start.function.body)
    made = [d for n, d in declared(w.fn.body).items() if d.shape and d != before.get(n)]
    if any(lacks_room(start.function, tops[0].path, d) for d in made):
        return None
    w.derivation = told_apart(w.derivation)
    w.do(*(Sequentialise(s.loop.var) for s in loops(w.fn) if s.loop.parallel))
    return _nests(w.derivation, around), around


def _nests(derivation: Derivation, hosts: frozenset[str]) -> Derivation:
    """Parallel loops that stand beside other statements become nests of their own, with what is
    computed in front of them."""
    for step in (distributed, sunk):
        for var in _outermost(derivation.function.body, hosts):
            derivation = told_apart(step(derivation, var))
    return derivation


def _outermost(body: tuple[Stmt, ...], hosts: frozenset[str]) -> list[str]:
    """The outermost loops that are not the host's."""
    found = list[str]()
    for s in body:
        if isinstance(s, For):
            found += _outermost(s.body, hosts) if s.var in hosts else [s.var]
    return found


def _sunk(w: Work, var: str, around: frozenset[str]) -> TransformError | None:
    """Moves the loop past those `around` it, or says why that cannot be."""

    def move() -> None:
        sink(w, [var], around)

    return possible(move, TransformError)


def _sequential_around(loop: For, verdicts: dict[str, LoopVerdict]) -> frozenset[str]:
    """The sequential loops in a loop that hold parallel ones which are worth a kernel."""

    def is_parallel(x: For) -> bool:
        v = verdicts.get(x.var)
        return v is not None and v.parallel in PARALLEL

    inside = [s for _, s in walk(loop.body) if isinstance(s, For) and not is_parallel(s)]
    held = (
        s.var
        for s in inside
        if any(
            isinstance(x, For) and is_parallel(x) and not has_few_iterations(x)
            for _, x in walk(s.body)
        )
    )
    return frozenset(held)
