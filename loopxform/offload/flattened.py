"""Versions of a whole function that is a loop whose iterations hold parallel loops:

    for o: { A(o);  for t: { for i: B(o, t, i);  for j: C(o, t, j) } }
      items    a work-item runs an iteration of o, in order
      groups   a group runs an iteration of o, its work-items share i and j
      flat     forall o: A
               for t (the host): forall o, i: B;  forall o, j: C

In `flat` the loop moves inwards past sequential loops, until it stands around parallel ones; what
its iterations share across the parts gets a dimension more. `recipes.nested_versions` has the
guards. (Rotendahl and Larsen, sections 2.3 and 2.4: V0, V1, and what flattening distributes and
interchanges.)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Protocol

from loopxform.analysis.verdict import LoopVerdict, judge
from loopxform.errors import TransformError, UnsupportedC
from loopxform.floating_point import FloatingPoint
from loopxform.ir.affine import value_of
from loopxform.ir.condition_text import condition_text
from loopxform.ir.nodes import Decl, For, Function, Stmt
from loopxform.ir.visit import LoopSite, declared, loops, walk
from loopxform.offload.array_expansion import has_room_for_iterations, lacks_room
from loopxform.offload.attention import attention_versions
from loopxform.offload.iteration_nests import IterationNests, iteration_nests
from loopxform.offload.pipeline_plan import PipelinePlan
from loopxform.offload.program_state import PARALLEL, Part, Program
from loopxform.prepare.perfect_nest import distributed, has_few_iterations, sunk, told_apart
from loopxform.recipes.coalesced import countable
from loopxform.recipes.deriving import Work
from loopxform.recipes.group_versions import versions_of
from loopxform.recipes.grouped_nest import Grouped
from loopxform.recipes.nested_versions import (
    ONE_ITEM_EACH,
    WITHOUT_REUSE,
    grouped,
    items_alone,
)
from loopxform.recipes.scan_versions import has_running_values
from loopxform.recipes.sink import sink
from loopxform.recipes.tiled import Tiled
from loopxform.recipes.version_choice import Thresholds, Version, choice
from loopxform.recipes.versions import REFUSALS, is_counted
from loopxform.records import record
from loopxform.schedule.params import Options
from loopxform.targets.target import Limits
from loopxform.transforms import (
    Assume,
    Derivation,
    Parallelise,
    Privatise,
    Sequentialise,
    possible,
    thresholds_of,
)


@record
class Offloaded:
    """The derivation, and what became of the parts of the function, in text order; the plans of
    its neighbouring nests."""

    derivation: Derivation
    parts: tuple[Part, ...]
    pipelines: tuple[PipelinePlan, ...] = ()

    @property
    def function(self) -> Function:
        return self.derivation.function


class Mapped(Protocol):
    """Maps a program, given the loops that are to stay the host's, and whether the program is one
    loop that has versions as a whole (`alone`)."""

    def __call__(
        self,
        derivation: Derivation,
        hosts: frozenset[str] = frozenset(),
        *,
        alone: bool = False,
    ) -> Offloaded: ...


NESTS = "parts of iterations"


def in_versions(
    derivation: Derivation, mapped: Mapped, limits: Limits, options: Options, fp: FloatingPoint
) -> Offloaded:
    """The program as it is `mapped`, or a choice between that and versions with more or less
    parallelism, where the whole function is one such loop. Raises what `mapped` does."""
    site = only_loop(derivation.function)
    if site is None:
        return mapped(derivation)
    w = Work(derivation.titled("What tells whether there is room"), {})
    w.attempt(*countable(w.fn, site))
    as_it_is = partial(
        _iterations_in_versions, site=site, mapped=mapped, limits=limits, options=options, fp=fp
    )
    nests = None if limits.vector else iteration_nests(Derivation(w.fn), site, limits)
    if nests is None:
        return as_it_is(w.derivation)
    kept = possible(partial(as_it_is, Derivation(w.fn)), *REFUSALS)
    rest = kept if isinstance(kept, Offloaded) and _fits(kept.function) else None
    if rest is not None and _reuses(rest):
        return as_it_is(derivation)
    if rest is None:
        w.do(*(Assume(condition_text(e)) for e in nests.room))
        nests = iteration_nests(Derivation(w.fn), site, limits)
        assert nests is not None
    done = possible(partial(mapped, nests.derivation), *REFUSALS)
    if not isinstance(done, Offloaded) or not _reuses(done):
        return as_it_is(derivation if rest is None else w.derivation)
    if rest is None or not nests.room:
        return replace(done, derivation=w.derivation.extended(done.derivation))
    free = Program(w.derivation, options, limits.costs, fp).allowing(options, site.loop)
    one = attention_versions(nests.derivation, limits) if free.reassociate else []
    return _with_room(w.derivation, site, nests, one, done, rest)


def _with_room(
    derivation: Derivation,
    site: LoopSite,
    nests: IterationNests,
    one: Sequence[tuple[Version, Part]],
    done: Offloaded,
    rest: Offloaded,
) -> Offloaded:
    """Parts of the iterations as nests (`done`) where there is room, else `one` kernel of tiles
    where that serves, else the iterations as they are (`rest`). Raises TransformError."""
    about = "parts of the iterations, with arrays of all of them"
    versions = [
        Version(NESTS, about, done.derivation, nests.room),
        *(v for v, _ in one),
        Version("", "each iteration on its own", rest.derivation),
    ]
    step = choice(site.loop.var, versions, Thresholds(0, frozenset(), {}))
    joined = derivation.titled("Versions").then(step)
    parts = (*done.parts, *(p for _, p in one), *rest.parts)
    return Offloaded(joined, parts, done.pipelines + rest.pipelines)


def _reuses(done: Offloaded) -> bool:
    """Whether a program is kernels alone, in one of which tiles read data once for many
    work-items."""
    if any(p.kind != "kernel" for p in done.parts):
        return False
    without = (*WITHOUT_REUSE, "group")
    return any(p.tiled and p.tiled.recipe not in without for p in done.parts)


def _iterations_in_versions(
    derivation: Derivation,
    site: LoopSite,
    mapped: Mapped,
    limits: Limits,
    options: Options,
    fp: FloatingPoint,
) -> Offloaded:
    """The same of the iterations as they are."""
    fn = derivation.function
    alone = Derivation(fn)
    moved = _flat(alone, site)
    if moved is not None and (whole := _with_reuse(alone, mapped)) is not None:
        return Offloaded(derivation.extended(whole.derivation), whole.parts)
    flat = None if moved is None else possible(partial(mapped, *moved, alone=True), *REFUSALS)
    if not isinstance(flat, Offloaded):
        moved, flat = (
            None,
            possible(partial(mapped, alone, alone=True), UnsupportedC, TransformError),
        )
    options = Program(alone, options, limits.costs, fp).allowing(options, site.loop)
    found = _grouped(fn, site, limits, options)
    if not isinstance(flat, Offloaded) or not _fits(flat.function):
        found = found or _grouped(fn, site, limits, options, whole=False)
        if found is not None:
            return _chosen(derivation, site, found, None, None, limits, options)
    if not isinstance(flat, Offloaded):
        raise flat
    one = None if moved else _one_kernel(flat, site.loop)
    if found is not None and one is not None and found.tiled.nest.parallel != one.nest.parallel:
        one = None
    items = one or _items(alone, site, limits, options)
    reused = any(p.tiled and p.tiled.recipe not in WITHOUT_REUSE for p in flat.parts)
    if reused or (len(flat.parts) == 1 and one is None):
        found = None
    if found is None and (moved is None or items is None):
        return replace(flat, derivation=derivation.extended(flat.derivation))
    return _chosen(derivation, site, found, None if one else flat, items, limits, options)


def _with_reuse(alone: Derivation, mapped: Mapped) -> Offloaded | None:
    """The program in kernels alone, where sequential loops can be inside of all parallel ones and
    tiles read data once for many work-items: a product, in any order of its loops; or where running
    values stay in the registers of a work-item."""
    whole = possible(partial(mapped, alone, alone=True), *REFUSALS)
    if not isinstance(whole, Offloaded) or any(p.kind != "kernel" for p in whole.parts):
        return None
    reused = any(p.tiled and p.tiled.recipe not in WITHOUT_REUSE for p in whole.parts)
    kept = any(p.tiled and has_running_values(p.tiled.nest) for p in whole.parts)
    return whole if reused or kept else None


def _chosen(
    derivation: Derivation,
    site: LoopSite,
    found: Grouped | None,
    flat: Offloaded | None,
    items: Tiled | None,
    limits: Limits,
    options: Options,
) -> Offloaded:
    """A choice between versions, the one that all calls take, or what there is without a choice.
    Raises TransformError."""
    apart = None if flat is None else flat.derivation
    fn, loop = derivation.function, site.loop
    versions, named = versions_of(fn, loop, found, apart, items, limits, options)
    parts = {} if flat is None else {"flat": flat.parts}
    parts |= dict(_parts(site, found, items))
    if len(versions) > 1:
        step = choice(loop.var, versions, named)
        joined = derivation.titled("Versions").tried(step)
        if not isinstance(joined, TransformError):
            return Offloaded(joined, tuple(p for v in versions for p in parts[v.label]))
    last = next((v for v in versions[:-1] if v.label == "flat"), versions[-1])
    return Offloaded(derivation.extended(last.derivation), parts[last.label])


def _parts(
    site: LoopSite, found: Grouped | None, items: Tiled | None
) -> Iterator[tuple[str, tuple[Part, ...]]]:
    """What becomes of the loop in the versions that are one kernel, by their labels."""
    kinds = {} if found is None else found.kinds
    for label, done in (*kinds.items(), *([] if items is None else [("items", items)])):
        loops, loc = done.nest.parallel, site.loop.origin.loc
        part = Part(loops[0], loc, loops, "kernel", done.reason, done)
        yield label, (part,)


def only_loop(fn: Function) -> LoopSite | None:
    """The loop of a function of nothing else but declarations, where it is parallel and the host
    can count its iterations."""
    others = [(n, s) for n, s in enumerate(fn.body) if not isinstance(s, Decl)]
    n, loop = others[0] if others else (0, None)
    if len(others) != 1 or not isinstance(loop, For) or not is_counted(fn, loop):
        return None
    own = next((v for v in judge(fn, inlined=True) if v.path == (n,)), None)
    return LoopSite((n,), loop) if own is not None and own.parallel in PARALLEL else None


def _grouped(
    fn: Function, site: LoopSite, limits: Limits, options: Options, *, whole: bool = True
) -> Grouped | None:
    """A group for each iteration, where there is room for the arrays of all; of several loops as
    one, which takes fewer arrays, where there is not."""
    found = grouped(fn, site.path, limits, options, whole=whole)
    if found is None or has_room_for_iterations(fn, site.path, found.tiled.function):
        return found
    found = grouped(fn, site.path, limits, options, whole=whole, in_one=True)
    fits = found is not None and has_room_for_iterations(fn, site.path, found.tiled.function)
    return found if fits else None


def _items(alone: Derivation, site: LoopSite, limits: Limits, options: Options) -> Tiled | None:
    """A work-item for each iteration, where that is possible, and there is room for the arrays of
    all."""
    done = items_alone(alone.function, site.path, limits, options)
    return done if done and _has_room(alone.function, site, done.function) else None


def _one_kernel(flat: Offloaded, loop: For) -> Tiled | None:
    """The nest, where it is a kernel that nothing but its parallelism chooses the work-items of."""
    first, *more = flat.parts
    known = not more and first.tiled is not None and not thresholds_of(flat.derivation)
    if not known or first.tiled is None or first.tiled.recipe not in ONE_ITEM_EACH:
        return None
    alone = first.loops[0] == loop.var
    return replace(first.tiled, derivation=flat.derivation) if alone else None


def _fits(fn: Function) -> bool:
    """Whether work-items can keep the arrays that are declared in kernels."""
    kernels = (s for _, s in walk(fn.body) if isinstance(s, For) and s.level)
    own = (d for s in kernels for d in declared(s.body).values())
    return all(value_of(size) is not None for d in own for size in d.shape)


def _has_room(before: Function, site: LoopSite, after: Function) -> bool:
    return not any(lacks_room(before, site.path, d) for d in _arrays_beside(before, after))


def _arrays_beside(before: Function, after: Function) -> list[Decl]:
    """The new arrays that are declared beside the loops."""
    known = declared(before.body)
    return [s for s in after.body if isinstance(s, Decl) and s.shape and s != known.get(s.name)]


def _flat(start: Derivation, site: LoopSite) -> tuple[Derivation, frozenset[str]] | None:
    """The function with its loop moved inwards, and the loops that it was moved past; None where it
    holds no parallel loops between sequential ones, or cannot be moved."""
    verdicts = {v.var: v for v in judge(start.function, inlined=True)}
    var, around = site.loop.var, _sequential_around(site.loop, verdicts)
    if not around:
        return None
    w = Work(start.titled(f"The loop over {var} around parallel loops"), {})
    w.attempt(*(Privatise(x, var) for x in verdicts[var].shared))
    if w.refusal(Parallelise(var)) or _sunk(w, var, around) is not None:
        return None
    if not _has_room(start.function, site, w.fn):
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
