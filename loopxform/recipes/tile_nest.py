"""Tiling one nest: the list of steps that leads from a prepared nest to a mapped one.

`choice` decides what is tiled and staged; here the steps follow. The stages carry the titles of the
listings of seed 000, section 2.1, which they reproduce for a matrix product.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import TypeVar

from loopxform.analysis.invariance import Read
from loopxform.errors import LimitError, TransformError, UnsupportedC
from loopxform.ir.affine import value_of
from loopxform.ir.names import fresh, outer_name
from loopxform.ir.nodes import Function
from loopxform.ir.visit import names, perfect_nest, resolve
from loopxform.model.choice import AUTOMATIC, ON_CPU, Choice, choices, naive
from loopxform.model.cost import arranging
from loopxform.model.layouts import one_each
from loopxform.model.resources import Demand, demand
from loopxform.model.reuse import Dim, Staged
from loopxform.model.waves import filled, shapes
from loopxform.prepare.parallel_band import Nest, with_guards_inside
from loopxform.recipes import fitting
from loopxform.recipes.deriving import Loops, Work, levels
from loopxform.recipes.group_reduction import in_group
from loopxform.recipes.latency_hiding import faster, in_registers, wanted
from loopxform.recipes.naive import one_item_each
from loopxform.recipes.operand_packing import (
    Arrangement,
    arrangement,
    asynchronous,
)
from loopxform.recipes.partial_tiles import finish
from loopxform.recipes.relayout_kernels import mapped_copy
from loopxform.recipes.sink import sink
from loopxform.recipes.staging import NotCopied, copies, registers
from loopxform.recipes.variants import Draft, dispatched, variants, when_quickest
from loopxform.records import record
from loopxform.schedule.params import PLAIN, Options, Recipe
from loopxform.targets.target import Limits
from loopxform.transforms import (
    BoundingBox,
    Derivation,
    MapTo,
    Normalise,
    SeparateFullTiles,
    Sequentialise,
    SkipEmptyTiles,
    Stripmine,
    Unroll,
)
from loopxform.transforms.edges.bounds import trip_count

T = TypeVar("T")


@record
class Fitted:
    """What a tiled nest needs of a device, and which defaults were reduced, and why."""

    needs: Demand
    reduced: tuple[str, ...]


@record
class Tiled:
    """The derivation, the choice that was possible with its tile sizes for the nest, what was
    staged, what is read into registers from global memory, and why not another choice; the arrays
    that are read from a copy in another layout, with the names of the copies; the nest before that,
    where its reduction is not split. `rest` are the nests that follow, where the loops of the
    user's nest became several. `fitted` says why the sizes are what they are, `group` which
    loop runs over the groups, the outermost of them. The recipe may be one that the user `asked`
    for; others come before it that fit, but have a step that is `refused`, for what reason."""

    derivation: Derivation
    choice: Choice
    sizes: dict[str, int]
    nest: Nest
    staged: tuple[Staged, ...] = ()
    kept: tuple[Read, ...] = ()
    reason: str = ""
    copied: tuple[tuple[str, str], ...] = ()
    plain: Nest | None = None
    rest: tuple[Tiled, ...] = ()
    fitted: Fitted | None = None
    group: str = ""
    asked: bool = False
    refused: tuple[tuple[Recipe, str], ...] = ()

    @property
    def function(self) -> Function:
        return self.derivation.function

    @property
    def recipe(self) -> Recipe:
        return self.choice.recipe


def one_nest(
    nest: Nest,
    given: Mapping[str, int],
    recipe: Recipe | None,
    limits: Limits,
    options: Options,
    *,
    strict: bool,
    few: bool = False,
    several: bool = False,
) -> Tiled:
    """Tiles a prepared nest by the first choice whose steps are all legal; `few` as `choices` has
    it. With `strict` that the recipe does not fit is an error, else the nest is mapped naively. In
    `several` shapes of tiles where sizes are not known, and that helps.

    Raises UnsupportedC, TransformError, LimitError."""
    inside = with_guards_inside(nest)
    tried = ON_CPU if limits.vector else AUTOMATIC
    kept = given.get("Rx", 1) > 1
    found, problem = choices(inside, recipe, limits.costs, kept=kept, few=few, automatic=tried)
    refused: tuple[tuple[Recipe, str], ...] = ()
    for choice in found:
        try:
            done = _staged(inside, choice, given, limits, options, several)
            return replace(done, asked=recipe is not None, refused=refused)
        except TransformError as e:
            if strict:
                raise
            problem = e.message
            refused = (*refused, (choice.recipe, problem))
    if strict:
        help = "leave out the recipe: the nest is mapped with one work-item per iteration"
        raise UnsupportedC(problem, loc=nest.innermost.origin.loc, code="LX063", help=help)
    done = _apply(nest, naive(nest), given, limits, reason=problem)
    return replace(done, refused=refused)


def _staged(
    nest: Nest,
    choice: Choice,
    given: Mapping[str, int],
    limits: Limits,
    options: Options,
    several: bool,
) -> Tiled:
    """The steps of a choice, in `several` shapes of tiles where that helps."""
    if several:
        found = _copied(choice, lambda c: _in_shapes(nest, c, given, limits, options))
        if found is not None:
            return found
    return _copied(choice, lambda c: _apply(nest, c, given, limits, options))


def _copied(choice: Choice, tiled: Callable[[Choice], T]) -> T:
    """What `tiled` makes of a choice; without the boxes of which it turns out that they cannot be
    copied, unless that leaves none."""
    while True:
        try:
            return tiled(choice)
        except NotCopied as e:
            choice = choice.without(e.stage)
            if not choice.stages:
                raise e.refused from e


def _in_shapes(
    nest: Nest, choice: Choice, given: Mapping[str, int], limits: Limits, asked: Options
) -> Tiled | None:
    """The nest in several shapes of tiles, and reading arranged copies for large sizes; None where
    it needs no more than one shape, or cannot have others."""
    options = wanted(asked, limits, choice)
    needs = demand(nest, choice, options.stages or 1)
    sizes, notes = fitting.fitted(choice, needs, limits, given)
    found = shapes(choice, needs, sizes, given, limits, nest.parallel)
    if len(found) == 1:
        return None
    counts = trips(nest)
    copies = arrangement(nest, choice, needs, sizes, counts, limits, asked)
    if None not in counts.values() and copies is None:
        return None
    alone = nest.alone()
    when = when_quickest(alone, [t.shape for t in found], limits.compute_units)
    if when is None:
        return None
    try:
        arranged = [] if copies is None else _arranged(alone, copies, limits, asked)
        if None in counts.values():
            rows = [_mapped(alone, choice, t.sizes, limits, options) for t in found]
        else:
            rows = [_mapped(alone, choice, given, limits, options)]
            when = [()]
    except (TransformError, LimitError, UnsupportedC):
        return None
    drafts = [Draft(t.label, d.derivation, d.group, cost=t.shape.cost) for d, t in zip(rows, found)]
    derivation = dispatched(nest, [*arranged, *variants(drafts, options, when)])
    return replace(rows[0], derivation=derivation, nest=nest, fitted=Fitted(needs, notes))


def _arranged(nest: Nest, found: Arrangement, limits: Limits, asked: Options) -> list[Draft]:
    """Variants for large sizes, from copies that the device fills tiles from on its own. Raises
    TransformError, LimitError, UnsupportedC."""
    when = when_quickest(nest, [t.shape for t in found.shapes], limits.compute_units)
    if when is None:
        return []
    reading = found.applied(nest)
    drafts = []
    for t in found.shapes:
        options = asynchronous(asked, t, limits)
        done = _in_registers(reading, t.sizes, limits, options)
        w = Work(done.derivation, {})
        for name in found.copies(w.fn):
            w.derivation = mapped_copy(w.derivation, name)
        label, guard = f"{t.label}, arranged operands", (*found.assumed, *found.pays)
        about = (f"each element serves {arranging(limits)} iterations",)
        drafts.append(Draft(label, w.derivation, done.group, guard, about, t.shape.cost))
    options = asynchronous(asked, found.shapes[0], limits)
    return variants(drafts, wanted(options, limits, done.choice), when)


def _in_registers(nest: Nest, sizes: Mapping[str, int], limits: Limits, options: Options) -> Tiled:
    """The nest in register tiles. Raises UnsupportedC, TransformError, LimitError."""
    inside = with_guards_inside(nest)
    found, problem = choices(inside, "register", limits.costs, kept=sizes["Rx"] > 1, few=False)
    for choice in found:
        asked = wanted(options, limits, choice)
        mapped = partial(_mapped, inside, given=sizes, limits=limits, options=asked)
        try:
            return _copied(choice, mapped)
        except TransformError as e:
            problem = e.message
    raise UnsupportedC(problem, loc=nest.innermost.origin.loc, code="LX063")


def _apply(
    nest: Nest,
    choice: Choice,
    given: Mapping[str, int],
    limits: Limits,
    options: Options = PLAIN,
    reason: str = "",
) -> Tiled:
    """The steps of a choice, for sizes that fit, in variants for sizes that allow more."""
    options = wanted(options, limits, choice)
    done = _mapped(nest.alone(), choice, given, limits, options, reason)
    draft = Draft("", done.derivation, done.group)
    drafts = variants([draft], options) if done.group else [draft]
    return replace(done, derivation=dispatched(nest, drafts), nest=nest)


def _mapped(
    nest: Nest,
    choice: Choice,
    given: Mapping[str, int],
    limits: Limits,
    options: Options,
    reason: str = "",
) -> Tiled:
    """The steps of a choice, for sizes that fit."""
    needs = demand(nest, choice, options.stages or 1)
    sizes, notes = fitting.fitted(choice, needs, limits, given)
    sizes, more = filled(choice, needs, sizes, given, limits, trips(nest))
    fitting.require(sizes, choice.names, needs, limits)
    options = in_registers(options, limits, choice, sizes)
    tiles = {n: sizes[n] for n in choice.names if n not in nest.taken}
    w = Work(nest.derivation.with_tiles(tiles), sizes)
    used = {n: sizes[n] for n in choice.names}
    if choice.recipe == "naive":
        near = one_each(nest, sizes, limits).neighbours
        mapped, note = one_item_each(w, nest, near)
        choice = replace(choice, dims=tuple(map(Dim, mapped[-2:])), neighbours=mapped[-1])
        text = "; ".join(x for x in (reason, note) if x)
        return Tiled(w.derivation, choice, used, nest, reason=text)
    if choice.recipe == "reduce":
        in_group(w, nest, reassociate=options.reassociate)
        return Tiled(w.derivation, choice, used, nest, reason=reason)
    staged, kept, group = _tiled(w, nest, choice, options, limits)
    found = Fitted(needs, (*notes, *more))
    done = Tiled(w.derivation, choice, used, nest, staged, kept, reason, fitted=found)
    return replace(done, group=group)


def trips(nest: Nest) -> dict[str, int | None]:
    """The iterations of the parallel loops, where they are known."""
    loops = perfect_nest(nest.outermost)[: len(nest.parallel)]
    return {x.var: value_of(trip_count(x)) for x in loops}


def _tiled(
    w: Work, nest: Nest, choice: Choice, options: Options, limits: Limits
) -> tuple[tuple[Staged, ...], tuple[Read, ...], str]:
    """Every step, in the order of the listings; what was staged, what is read into registers from
    global memory, and the outermost loop over groups. On a CPU with vectors the elements of a
    work-item are lanes: they stay parallel, and compilers find registers for what they read."""
    lanes = limits.vector > 0
    tiled = [d.loop for d in choice.dims]
    others = [v for v in nest.parallel if v not in tiled]
    w.order(list(nest.parallel), [*others, *tiled])
    dims = [levels(w.fn, d) for d in choice.dims]
    w.stage("Listing 3: Stripmining of all loops")
    for d in dims:
        _stripmine(w, d)
    outer = {k: _outer(w, k) for k in choice.strips}
    uneven = _uneven(w, choice, dims)
    for k, kk in outer.items():
        if k not in uneven:
            w.do(Stripmine(k, w.size("Tk"), kk))
    w.stage("Listing 4: Interchanging parallel loops")
    groups = [d.group for d in dims]
    threads, items = [d.thread for d in dims if d.thread], [d.item for d in dims if d.item]
    w.order([v for d in dims for v in d.inside], [*groups, *threads, *items])
    for k, over in uneven.items():
        w.stage("Bounds that serve a whole group")
        w.do(BoundingBox(k, over))
        if k in outer:
            w.do(Stripmine(k, w.size("Tk"), outer[k]))
    storage = _sink(w, choice, outer, threads, items)
    _normalise(w, dims, choice, lanes=lanes)
    _map(w, others, dims, choice, lanes=lanes)
    staged = copies(w, choice, outer, groups[-1], lanes=lanes)
    kept = () if lanes else registers(w, choice)
    finish(w, storage, choice, outer, limits.costs, pad=bool(options.pad))
    if options.versions:
        w.stage("Versions for whole tiles")
        w.attempt(SeparateFullTiles(groups[-1]))
    w.stage("Groups without iterations")
    w.attempt(SkipEmptyTiles(groups[-1]))
    group = [*others, *groups][0]
    faster(w, group, dims, options)
    return staged, kept, group


def _uneven(w: Work, choice: Choice, dims: list[Loops]) -> dict[str, tuple[str, ...]]:
    """Sequential loops that the group runs in step though their bounds differ between its work-
    items, and the loops inside the group that these depend on."""
    out = {}
    for v in choice.opened:
        (site,) = resolve(w.fn, v)
        used = names(site.loop.lo) | names(site.loop.hi)
        over = [x for d in dims for x in (d.thread, d.item) if x and d.dim.loop in used]
        if over:
            out[v] = tuple(over)
    return out


def _outer(w: Work, k: str) -> str:
    return fresh(w.fn, k * 2) if len(k) == 1 else outer_name(w.fn, k)


def _stripmine(w: Work, d: Loops) -> None:
    w.do(Stripmine(d.dim.loop, w.size(*map(str, d.dim.factors)), d.group))
    if d.thread and d.item:
        w.do(Stripmine(d.item, w.size(d.dim.kept), d.thread))


def _sink(
    w: Work, choice: Choice, outer: dict[str, str], threads: list[str], items: list[str]
) -> list[str]:
    """Work-items inside the loops that the group runs in step, elements of an item inside the
    loops in which they share what was read."""
    step = {outer.get(k, k) for k in choice.opened} | _held(choice, outer)
    uniform = frozenset(n for s in choice.stages for n in s.scalars)
    storage = sink(w, [*threads, *items], frozenset(step), uniform=uniform) if step else []
    if items:
        storage += sink(w, items, frozenset(_reducing(choice)))
    return list(dict.fromkeys(storage))


def _held(choice: Choice, outer: dict[str, str]) -> set[str]:
    """Tiled sequential loops that hold another loop the group runs in step."""
    out = set()
    for s in choice.stages:
        for r in s.reads:
            chain = [x.var for x in r.loops if x.var in choice.opened]
            out |= {v for v in chain[:-1] if v in outer}
    return out


def _reducing(choice: Choice) -> set[str]:
    """The sequential loops in which what is read serves several elements of a work-item."""
    out: set[str] = set()
    for r in (*(r for s in choice.stages if s.kept for r in s.reads), *choice.unstaged):
        last = max((n for n, x in enumerate(r.loops) if x.var in r.varies), default=-1)
        out |= {x.var for x in r.loops[: last + 1]}
    return out


def _normalise(w: Work, dims: list[Loops], choice: Choice, *, lanes: bool) -> None:
    kept = [d.item for d in dims if d.item]
    if kept and not lanes:
        w.stage("Listing 8: Sequentializing innermost loops")
        w.do(*(Sequentialise(f"{v}*") for v in kept))
    w.stage("Listing 9: Normalizing sequential loops")
    w.do(*(Normalise(k) for k in choice.strips))
    for n, v in enumerate(reversed(kept)):
        w.do(Normalise(f"{v}*", "innermost" if n else "body"))


def _map(w: Work, others: list[str], dims: list[Loops], choice: Choice, *, lanes: bool) -> None:
    """Loops over groups and work-items; the parallel loops around them are further groups."""
    w.stage("Listing 10: Mapping to hardware and copying slices")
    letters = {d.loop: x for d, x in zip(choice.hardware(w.sizes), "xyz")}
    outermost = "x" if len(dims) == 1 else "z"
    w.do(*(MapTo(v, f"group.{outermost}") for v in others))
    w.do(*(MapTo(d.group, f"group.{letters[d.dim.loop]}") for d in dims))
    for d in dims:
        if d.thread:
            w.do(MapTo(f"{d.thread}*", f"thread.{letters[d.dim.loop]}"))
    for d in dims:
        if d.item and not lanes:
            w.do(Unroll(f"{d.item}*"))
