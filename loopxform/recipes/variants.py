"""Variants of a mapped nest for sizes that allow more, each under a guard that the host asks when
the program runs.

    offsets in 32 bits    where an int can number the elements of each array
    operand packing       where copies of arrays in rows of vectors pay
    vectors               else, where the rows are vectors as they are
    shapes of tiles       large ones for many of them, smaller ones where these would leave compute
                          units of the device without work
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce

from loopxform.errors import TransformError
from loopxform.ir.affine import value_of
from loopxform.ir.condition_text import condition_text
from loopxform.ir.nodes import Bin, Const, Expr, For, Function
from loopxform.ir.typing import symbols
from loopxform.ir.visit import LoopSite, Path, names, perfect_nest, resolve, walk, writes
from loopxform.model.cost import worthwhile_iterations
from loopxform.model.tile_shapes import ITERATIONS, Shape, least
from loopxform.model.waves import Tiling, of_vectors
from loopxform.prepare.parallel_band import Nest
from loopxform.recipes.deriving import Work
from loopxform.recipes.relayout_kernels import mapped_copy
from loopxform.recipes.vector_stores import store_results
from loopxform.records import record
from loopxform.schedule.params import Options
from loopxform.targets.target import Limits
from loopxform.transforms import (
    Assume,
    Derivation,
    Dispatch,
    Index32,
    Pack,
    Step,
    Variant,
    Vectorise,
    possible,
)
from loopxform.transforms.edges.bounds import trip_count
from loopxform.transforms.latency.vectors import (
    Found,
    copies,
    divides,
    open_questions,
    unfit,
    widest,
)
from loopxform.transforms.sites import ascending, fixed_header


@record
class Draft:
    """A variant in the making: its steps from the prepared nest on, the outermost of its loops over
    groups, what the host asks, that in words, what a tile costs by the model, and when `copying`
    operands makes up for the launches that it takes."""

    label: str
    derivation: Derivation
    group: str
    guard: tuple[Expr, ...] = ()
    about: tuple[str, ...] = ()
    cost: str = ""
    copying: Expr | None = None

    def work(self) -> Work:
        """To go on from here."""
        return Work(self.derivation, {})

    def then(self, w: Work, asked: Sequence[Expr], about: str) -> Draft:
        """With further steps, and a longer guard."""
        guard = tuple(dict.fromkeys((*self.guard, *asked)))
        said = (*self.about, about) if asked else self.about
        return replace(self, derivation=w.derivation, guard=guard, about=said)


def dispatched(nest: Nest, drafts: Sequence[Draft]) -> Derivation:
    """The derivation with a choice between the variants; their steps alone where there is but one.
    Raises TransformError."""
    if len(drafts) == 1:
        return nest.derivation.extended(drafts[0].derivation)
    variants = tuple(map(_variant, drafts))
    return nest.derivation.titled("Variants").then(Dispatch(nest.parallel[0], variants))


def _variant(d: Draft) -> Variant:
    steps = tuple(r.step for r in d.derivation.records)
    guard = tuple(map(condition_text, d.guard))
    about = "; ".join(d.about)
    tiles = d.derivation.start.tiles
    return Variant(d.label, about, d.cost, guard, tiles, steps, d.derivation)


Conditions = Sequence[tuple[Expr, ...]]
"""When each of several shapes is the quickest; nothing for the first of them."""

ALWAYS: Conditions = ((),)


@record
class Rows:
    """When each of several shapes is the quickest where rows are vectors, what its tiles cost then,
    and when each but the first is where rows are none."""

    vectors: Conditions
    costs: Sequence[str]
    others: Conditions


def variants(
    drafts: Sequence[Draft],
    options: Options,
    quickest: Conditions = ALWAYS,
    of_rows: Rows | None = None,
    forms: Sequence[Sequence[Draft]] = (),
) -> list[Draft]:
    """Variants of a nest that is mapped in several shapes, each for where `quickest` says so, the
    first for what is left; or `of_rows`, where variants are for rows of vectors, of which there
    may be fewer. Tiles of other rows have
    other `forms`, which come first. The last variant asks no more than the drafts
    do."""
    width, out = options.vector or 1, list[Draft]()
    narrow = [_in_32_bits(d) for d in drafts] if options.index == 32 else list(drafts)
    aligned = narrow if of_rows is None else narrow[: len(of_rows.vectors)]
    special = [_of_vectors(d, width, options.pack or 0) for d in aligned] if width > 1 else []
    rows = [d for d in special if d is not None]
    if rows and len(rows) == len(special):
        smaller = quickest[min(1, len(narrow) - 1) :]
        told = of_rows or Rows(quickest, [d.cost for d in rows], smaller)
        priced = [replace(d, cost=c) for d, c in zip(rows, told.costs)]
        out += _chosen(priced, told.vectors)
        # Tiles that are filled element by element gain nothing from being the largest.
        narrow, quickest = narrow[-len(told.others) :], told.others
    how = _in_32_bits if options.index == 32 else lambda d: d
    out += _chosen(narrow, quickest, [list(map(how, x)) for x in forms[-len(narrow) :]])
    if out[-1].guard != drafts[0].guard:
        out.append(drafts[0])
    return [_with_vectors(d, width) for d in out] if width > 1 else out


def whole_rows(
    drafts: Sequence[Draft], options: Options, quickest: Conditions = ALWAYS
) -> list[Draft]:
    """Variants for rows that are copied in vectors of `options.vector`, wherever tiles are filled;
    none where the host cannot tell."""
    width, out = options.vector or 1, list[Draft]()
    for d in (_in_32_bits(d) for d in drafts):
        d = _with_vectors(_of_whole_rows(d, width) or d, width)
        w = d.work()
        tiles = (f.copy for f in _copies(w, d.group) if f.copy.collective)
        if any(c.width != width for c in tiles):
            return []
        out.append(d)
    return _chosen(out, quickest)


def _chosen(
    drafts: Sequence[Draft], quickest: Conditions, forms: Sequence[Sequence[Draft]] = ()
) -> list[Draft]:
    """The last shape where it is the quickest, then those before it; the first for what is left.
    Each comes behind its other `forms`, which ask more."""
    about = f"the quickest of {len(quickest)} shapes"
    out = list[Draft]()
    for n in reversed(range(len(drafts))):
        when, own = quickest[n] if n else (), list(forms[n]) if forms else []
        if all(d.guard != drafts[n].guard for d in own):
            own.append(drafts[n])
        out += [d.then(d.work(), when, about) if n else d for d in own]
    return out


def when_quickest(nest: Nest, shapes: Sequence[Shape], units: int) -> Conditions | None:
    """When each of the shapes is quicker than those before it (the first: always); None where the
    host cannot tell."""
    chain = perfect_nest(nest.outermost)[: len(nest.parallel)]
    sites = [LoopSite((*nest.path, *[0] * n), loop) for n, loop in enumerate(chain)]
    trips = [trip_count(loop) for loop in chain]
    counted = not any((*ascending(s), *fixed_header(s)) for s in sites)
    if not counted or not all(names(trip) <= _fixed(nest.function) for trip in trips):
        return None
    types, iterations = symbols(nest.function), sequential_iterations(nest)
    return [
        least(s, shapes[:n], trips, units, types, iterations) if n else ()
        for n, s in enumerate(shapes)
    ]


def copies_pay(nest: Nest, limits: Limits) -> Expr | None:
    """When copies of operands make up for the launches that they take; None where that is not
    known."""
    least, count = worthwhile_iterations(limits), sequential_iterations(nest)
    return Bin(">=", count, Const(least)) if least and count is not None else None


def known_iterations(nest: Nest) -> int:
    """Those of the sequential loop; where they are not known, those that tiles are timed for."""
    count = sequential_iterations(nest)
    return (None if count is None else value_of(count)) or ITERATIONS


def sequential_iterations(nest: Nest) -> Expr | None:
    """How many iterations the one sequential loop of a nest has; None where there are several, or
    the host cannot tell."""
    inner = [s for s in nest.innermost.body if isinstance(s, For)]
    if len(inner) != 1 or any(isinstance(s, For) for _, s in walk(inner[0].body)):
        return None
    path = (*nest.path, *[0] * (len(nest.parallel) - 1), nest.innermost.body.index(inner[0]))
    site = LoopSite(path, inner[0])
    if ascending(site) or fixed_header(site):
        return None
    count = trip_count(inner[0])
    return count if names(count) <= _fixed(nest.function) else None


def of_rows(nest: Nest, found: list[Tiling], limits: Limits) -> Rows | None:
    """When each of the shapes is the quickest, by what rows are; None where the host cannot
    tell."""
    vectors = [t.shape for t in of_vectors([t for t in found if not t.single], limits)]
    others = [t.shape for t in found[1:]]
    aligned = when_quickest(nest, vectors, limits.compute_units)
    smaller = when_quickest(nest, others, limits.compute_units)
    if aligned is None or smaller is None:
        return None
    return Rows(aligned, [s.cost for s in vectors], smaller)


def _in_32_bits(d: Draft) -> Draft:
    """With the elements of arrays numbered in 32 bits."""
    w = d.work()
    w.stage("Offsets in 32 bits")
    step = Index32(d.group)
    asked = step.open_questions(w.fn)
    return d.then(w, asked, "an int numbers all elements") if _assuming(w, asked, step) else d


def _of_vectors(d: Draft, width: int, iterations: int) -> Draft | None:
    """For rows of vectors: those of copies, each of which serves so many iterations, else as they
    are. None where neither helps."""
    return _packed(d, width, iterations) or _of_whole_rows(d, width)


def _packed(d: Draft, width: int, iterations: int) -> Draft | None:
    """Reads copies in rows of vectors; each copy is a kernel. Not for batches: a factor of those
    has few rows, and the addresses of one more dimension cost a register too many."""
    w = d.work()
    if not iterations or _on_grid(w, d.group) > 2:
        return None
    known = _sources(w, d.group)
    step = Pack(d.group, str(width))
    w.stage("Operand packing")
    asked = step.open_questions(w.fn)
    pays: tuple[Expr, ...] = ()
    if not _assuming(w, asked):
        return None
    if not step.check(w.fn):
        pays = step.pays(w.fn, iterations, d.copying)
    if not w.attempt(step):
        return None
    names = sorted(_sources(w, d.group) - known)
    mapped = possible(lambda: reduce(mapped_copy, names, w.derivation), TransformError)
    if isinstance(mapped, TransformError):
        return None
    w.derivation = mapped
    made = replace(d, label=_joined(d.label, "packed operands"))
    return made.then(w, (*asked, *pays), f"a copy serves {iterations} iterations, or is none")


def _of_whole_rows(d: Draft, width: int) -> Draft | None:
    """For rows of which vectors are a part."""
    w = d.work()
    w.stage("Vectors")
    asked = _open(w, d.group, width)
    if not asked or not _assuming(w, asked):
        return None
    made = replace(d, label=_joined(d.label, "vectors"))
    return made.then(w, asked, f"rows are vectors of {width}")


def _joined(*parts: str) -> str:
    return ", ".join(x for x in parts if x)


def _open(w: Work, group: str, width: int) -> tuple[Expr, ...]:
    """What the host would have to ask for copies to move vectors, of those for which it can."""
    known, asked = _fixed(w.fn), list[Expr]()
    for f in _copies(w, group):
        most = widest(w.fn, f.copy.target, width)
        if f.copy.collective and most > 1 and not unfit(w.fn, f, most):
            rows = open_questions(w.fn, f, most)
            if rows and all(names(e) and names(e) <= known for e in rows):
                asked += (divides(most, e) for e in rows)
    return tuple(dict.fromkeys(asked))


def _assuming(w: Work, asked: Sequence[Expr], *steps: Step) -> bool:
    """Applies steps that rely on conditions: all of them or none."""
    return w.attempt(*(Assume(condition_text(e)) for e in asked), *steps)


def _with_vectors(d: Draft, width: int) -> Draft:
    """Tiles are filled and results stored in vectors, wherever these are known to lie in memory.
    Results of batches are not, as for copies."""
    w = d.work()
    w.stage("Vectors")
    tiles = (f.copy.target for f in _copies(w, d.group) if f.copy.collective)
    for tile in dict.fromkeys(tiles):
        w.widest(Vectorise, tile, widest(w.fn, tile, width))
    if _on_grid(w, d.group) <= 2:
        store_results(w, d.group, width)
    return replace(d, derivation=w.derivation)


def _sources(w: Work, group: str) -> set[str]:
    return {f.copy.source for f in _copies(w, group)}


def _copies(w: Work, group: str) -> list[Found]:
    """Those of a nest."""
    (nest,) = resolve(w.fn, group)
    return [f for f in copies(w.fn) if _is_in(f.path, nest.path)]


def _is_in(path: Path, nest: Path) -> bool:
    return path[: len(nest)] == nest


def _fixed(fn: Function) -> frozenset[str]:
    """Scalars of the caller's that keep their value."""
    return frozenset(p.name for p in fn.objects if not p.array) - writes(fn.body)


def _on_grid(w: Work, loop: str) -> int:
    """How many loops over groups there are."""
    levels = [x.level for x in perfect_nest(resolve(w.fn, loop)[0].loop)]
    return sum(x is not None and x.kind == "grid" for x in levels)
