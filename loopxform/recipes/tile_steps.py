"""The steps of recipes that stage tiles in local memory, from a prepared nest to a mapped one.

The stages carry the titles of the listings of Cholewa-Madsen and Holst, section 2.1, which they
reproduce for a matrix product.
"""

from __future__ import annotations

from loopxform.ir.condition_text import condition_text
from loopxform.ir.names import fresh, outer_name
from loopxform.ir.visit import names, resolve
from loopxform.model.choice import Choice
from loopxform.prepare.parallel_band import Nest
from loopxform.recipes.base import Mapped, Uncopied
from loopxform.recipes.deriving import Loops, Work, levels
from loopxform.recipes.latency_hiding import faster
from loopxform.recipes.partial_tiles import finish
from loopxform.recipes.sink import sink
from loopxform.recipes.speculation import without_rare_cases
from loopxform.recipes.staging import copies, keep_elements, read_in_vectors, registers
from loopxform.schedule.params import Options
from loopxform.targets.target import Limits
from loopxform.transforms import (
    Assume,
    BoundingBox,
    ClampEdges,
    MapTo,
    Normalise,
    SeparateFullTiles,
    Sequentialise,
    ShiftInwards,
    SkipEmptyTiles,
    Stripmine,
    Unroll,
)


def mapped_tiles(
    w: Work, nest: Nest, choice: Choice, options: Options, limits: Limits
) -> Mapped | Uncopied:
    """Every step, in the order of the listings. On a CPU with vectors the elements of a work-item
    are lanes: they stay parallel, and compilers find registers for what they read."""
    lanes = limits.vector > 0
    tiled = [d.loop for d in choice.dims]
    others = [v for v in nest.parallel if v not in tiled]
    if not lanes and not any(d.kept for d in choice.dims):
        keep_elements(w, nest)
    w.order(list(nest.parallel), [*others, *tiled])
    dims = [levels(w.fn, d) for d in choice.dims]
    w.stage("Listing 3: Stripmining of all loops")
    shifted = [_stripmine(w, d, shifted=options.shift_inwards) for d in dims]
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
    if isinstance(staged, Uncopied):
        return staged
    width = limits.vector_width if options.vector is None else options.vector
    kept = () if lanes else registers(w, choice, width)
    if storage and not all(shifted):
        w.stage("Redundant computation instead of bounds checks")
        w.attempt(ClampEdges(tuple(storage)))
    vectors = {k: read_in_vectors(w, choice, k, width) for k in choice.strips}
    finish(w, outer, vectors, limits.costs, pad=bool(options.pad))
    if options.separate_full_tiles:
        w.stage("Versions for whole tiles")
        w.attempt(SeparateFullTiles(groups[-1]))
    w.stage("Groups without iterations")
    w.attempt(SkipEmptyTiles(groups[-1]))
    group = [*others, *groups][0]
    faster(w, group, dims, options, limits)
    if not any(d.item for d in dims):
        without_rare_cases(w, group, options, limits)
    return Mapped(choice, staged, kept, group)


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


def _stripmine(w: Work, d: Loops, *, shifted: bool) -> bool:
    """Whether its tiles are shifted inwards, so that all are whole."""
    w.do(Stripmine(d.dim.loop, w.size(*map(str, d.dim.factors)), d.group))
    step, whole = ShiftInwards(d.group), False
    if shifted:
        asked = (Assume(condition_text(e)) for e in step.open_questions(w.fn))
        whole = w.attempt(*asked, step)
    if d.thread and d.item:
        w.do(Stripmine(d.item, w.size(d.dim.kept), d.thread))
    return whole


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
