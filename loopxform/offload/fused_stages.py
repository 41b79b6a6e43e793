"""Pipelines: nests that follow one another and compute arrays from arrays, as one kernel.

    forall i, j: b = f(a);  forall i, j: c = g(b)   ->   a kernel: a row of b, a row of c, ...

The steps `fuse-stages` (rows that are streamed) and `tile-stages` (blocks) say when that is legal,
`model.fused_stages` where it pays.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from loopxform.errors import UnsupportedC
from loopxform.ir.nodes import For, Function, If
from loopxform.ir.visit import Path, loops, perfect_nest, resolve, walk
from loopxform.model.blocks import BlockTile
from loopxform.model.fused_stages import Cut, Forms, Grouping, Known, grouping, least_tiles, whole
from loopxform.model.predicted import Predicted
from loopxform.model.streams import Tile
from loopxform.offload.nest_order import in_better_order
from loopxform.offload.pipeline_plan import PipelinePlan, PlannedKernel
from loopxform.offload.program_state import Part, Place, Program, inner_places
from loopxform.offload.recomputed_stages import Choose, recomputed
from loopxform.offload.time_tiles import DATA_DECIDE, asked_tiles, is_asked_by_host, too_large
from loopxform.recipes.deriving import Work
from loopxform.recipes.speculation import quotients_together
from loopxform.schedule.offload_options import FUSE_STAGES, TILE_STAGES, TileChoice
from loopxform.schedule.params import Options
from loopxform.schedule.requests import Wish, Wishes
from loopxform.targets.target import Limits
from loopxform.transforms import FuseStages, Step, TileStages
from loopxform.transforms.overlapped.templates import Nests
from loopxform.transforms.restructure.places import later

TITLE = "Stages in one kernel"


def fused_stages(program: Program, limits: Limits, given: Wish, wishes: Wishes) -> None:
    """Gives runs of nests that are stages of a pipeline a kernel each: neighbours of which the
    source asks the same. Raises AnnotationError where it asks for a tile of nests that cannot be
    had."""
    for wish, run in [*_alike(program, given, wishes)]:
        options = given.over(wish).options
        forms = _forms(options)
        if (options.fuse_stages == () and not options.tile_stages) or (
            wish.annotation is not None and wish.is_of_nests and not forms.is_asked
        ):
            continue
        paths = [resolve(program.fn, var)[0].path for var in run]
        known = all(x.parallel for var in run for x in _loops(program, var))
        verdicts = {} if known else {v.path: v for v in program.verdicts().values()}
        free = _is_free(program, run)
        nests = Nests(program.fn, verdicts, reassociate=free)
        if forms.is_asked and wish is not wishes.common:
            _require_fused(program, run, nests, forms.tiles, limits, wish)
            continue
        found = grouping(nests, paths, limits, forms)
        if known and not forms.is_asked and found.windows:
            choose = _choosing(limits, forms, free)
            run, found = in_better_order(program, run, found, choose)
            run, found = recomputed(program, run, found, choose)
        if forms.tiles and len(run) > 1 and all(cut.count == 1 for cut in found.cuts):
            _say_why_not(program, run, forms.tiles[0], limits)
        lines = [program.lines(resolve(program.fn, var)[0].loop) for var in run]
        is_asked = forms.is_asked or options.fuse_stages is not None
        made = [
            cut
            for cut in reversed(found.cuts)
            if not _fuse(program, run[cut.first :][: cut.count], cut, limits, asked=is_asked)
        ]
        program.pipelines.append(_plan(lines, made, found.alone))


def _choosing(limits: Limits, forms: Forms, free: bool) -> Choose:
    """What chooses the kernels of nests that are known to be parallel."""

    def choose(fn: Function, run: list[str], known: Known) -> Grouping:
        paths = [resolve(fn, var)[0].path for var in run]
        return grouping(Nests(fn, {}, reassociate=free), paths, limits, forms, known)

    return choose


def _plan(
    lines: Sequence[tuple[int, ...]], made: Sequence[Cut], alone: Sequence[Predicted | None]
) -> PipelinePlan:
    """The plan of nests of some lines, those of `made` in one kernel."""
    apart = tuple(PlannedKernel(own, None, p) for own, p in zip(lines, alone, strict=True))
    kernels = dict(enumerate(apart))
    for cut in made:
        every = [kernels.pop(n) for n in range(cut.first, cut.first + cut.count)]
        joined = tuple(n for k in every for n in k.lines)
        kernels[cut.first] = PlannedKernel(joined, cut.tile, cut.predicted)
    return PipelinePlan(tuple(k for _, k in sorted(kernels.items())), apart)


def _forms(options: Options) -> Forms:
    """The tiles that are asked for."""
    rows, sizes = options.fuse_stages, options.tile_stages
    streams = None if rows is None else tuple(asked_tiles((1, *rows))) if rows else ()
    blocks = None if sizes is None else (BlockTile(sizes[:-1], sizes[-1]),) if sizes else ()
    if blocks and streams is None:
        return Forms((), blocks)
    return Forms(streams, () if blocks is None and streams is not None else blocks)


def _alike(program: Program, given: Wish, wishes: Wishes) -> Iterator[tuple[Wish, list[str]]]:
    """Runs of neighbours of which the source asks the same, with what it asks."""

    def key(var: str) -> tuple[object, ...]:
        wish = wishes.of(program.fn, resolve(program.fn, var)[0].path)
        options = given.over(wish).options
        return wish is wishes.common, options.fuse_stages, options.tile_stages

    for run in _runs(program, ()):
        for _, group in groupby(run, key):
            alike = [*group]
            yield wishes.of(program.fn, resolve(program.fn, alike[0])[0].path), alike


def _require_fused(
    program: Program,
    run: list[str],
    nests: Nests,
    tiles: Iterable[Tile | BlockTile],
    limits: Limits,
    wish: Wish,
) -> None:
    """Raises AnnotationError where none of the tiles can be had."""
    whys: list[str] = []
    places = [resolve(program.fn, var)[0] for var in run]
    lines = [program.lines(site.loop) for site in places]
    for tile in tiles:
        found = whole(nests, [site.path for site in places], limits, tile)
        why = _fuse(program, run, found.cuts[0], limits, asked=True)
        if not why:
            program.pipelines.append(_plan(lines, found.cuts, found.alone))
            return
        whys.append(why)
    loc = resolve(program.fn, run[0])[0].loop.origin.loc
    raise wish.unmet(UnsupportedC(whys[0], loc=loc, code="LX062"))


def _loops(program: Program, var: str) -> list[For]:
    nest = resolve(program.fn, var)[0].loop
    return [x for _, x in walk((nest,)) if isinstance(x, For)]


def _is_free(program: Program, run: list[str]) -> bool:
    """Whether sums of nests may be in another order."""
    nests = (resolve(program.fn, var)[0].loop for var in run)
    return all(program.allowing(program.options, nest).reassociate for nest in nests)


def _runs(program: Program, place: Place) -> Iterator[list[str]]:
    """Nests that follow one another, by their outermost loops."""
    run: list[tuple[Path, str]] = []
    for n, (path, s) in enumerate(program.statements(place)):
        follows = run and later(run[-1][0], 1) == path
        if run and not (follows and isinstance(s, For) and s.var in program.nests):
            yield [var for _, var in run]
            run = []
        if isinstance(s, For) and s.var in program.nests:
            run.append((path, s.var))
        elif (isinstance(s, For) and s.var in program.hosts) or isinstance(s, If):
            for body in inner_places(s, place, n):
                yield from _runs(program, body)
    if run:
        yield [var for _, var in run]


def _fuse(program: Program, run: list[str], cut: Cut, limits: Limits, *, asked: bool) -> str:
    """Gives nests one kernel, or says why they have none."""
    first = resolve(program.fn, run[0])[0].loop
    groups = "" if asked else str(least_tiles(cut.count, limits))
    nests = [resolve(program.fn, var)[0].loop for var in run]
    inside = [x.var for nest in nests for x in perfect_nest(nest)]
    lines = tuple(n for nest in nests for n in program.lines(nest))
    known = {s.loop.var for s in loops(program.fn)}
    w, lacking = _tried(program, run, cut.tile, groups, limits)
    if lacking:
        return lacking
    site = next(s for s in loops(w.fn) if s.loop.var not in known)
    if not is_asked_by_host(w.fn, site):
        return DATA_DECIDE
    options = program.allowing(program.options, first)
    quotients_together(w, site.loop.var, options, limits)
    site = resolve(w.fn, site.loop.var)[0]
    program.derivation, outer = w.derivation, site.loop
    left = {s.loop.var for s in loops(program.fn)}
    program.nests = {var: nest for var, nest in program.nests.items() if var in left}
    alone = "a tile at a time" if isinstance(cut.tile, BlockTile) else "a row at a time"
    what = f"{len(run)} stages in one kernel" if len(run) > 1 else alone
    about = f"{what}, {cut.tile.text}"
    loc = first.origin.loc
    form = TILE_STAGES if isinstance(cut.tile, BlockTile) else FUSE_STAGES
    choice = TileChoice(form.name, tuple(t.option for t in cut.tiles))
    part = Part(outer.var, loc, tuple(inside), "kernel", "", about=about, choice=choice)
    program.parts.append(replace(part, lines=lines if len(lines) > 1 else ()))
    return ""


def _tried(
    program: Program, run: list[str], tile: Tile | BlockTile, groups: str, limits: Limits
) -> tuple[Work, str]:
    """The program with one kernel for nests, or why there is none."""
    names = tuple(run)
    if isinstance(tile, BlockTile):
        step: Step = TileStages(names, *tile.words, groups)
    else:
        order = "reassociate" if _is_free(program, run) else ""
        step = FuseStages(names, *tile.words, groups, order)
    w = Work(program.derivation.titled(TITLE), {})
    refusal = w.refusal(step)
    return w, too_large(w.fn, limits) if refusal is None else refusal.obstacles[0].message


def _say_why_not(program: Program, run: list[str], tile: Tile | BlockTile, limits: Limits) -> None:
    """Notes why nests have no kernel with the tile that is asked for, where it cannot be had."""
    if why := _tried(program, run, tile, "", limits)[1]:
        program.notes[run[0]] = f"not in one kernel with others: {why}"
