"""Pipelines: nests that follow one another and compute arrays from arrays, as one kernel.

    forall i, j: b = f(a);  forall i, j: c = g(b)   ->   a kernel: a row of b, a row of c, ...

The step `fuse-stages` says when that is legal, `model.fused_stages` where it pays.
"""

from __future__ import annotations

from collections.abc import Iterator

from loopxform.ir.nodes import For, If
from loopxform.ir.visit import Path, loops, perfect_nest, resolve
from loopxform.model.fused_stages import Cut, cuts
from loopxform.offload.program_state import Part, Place, Program, inner_places
from loopxform.offload.time_tiles import asked_tiles, is_asked_by_host, too_large
from loopxform.recipes.deriving import Work
from loopxform.schedule.offload_options import FUSE_STAGES, TileChoice
from loopxform.targets.target import Limits
from loopxform.transforms import FuseStages

TITLE = "Stages in one kernel"


def fused_stages(program: Program, limits: Limits) -> None:
    """Gives runs of nests that are stages of a pipeline a kernel each."""
    numbers = program.options.fuse_stages
    asked = asked_tiles((1, *numbers)) if numbers else []
    for run in [*_runs(program, ())] if numbers != () else []:
        paths = [resolve(program.fn, var)[0].path for var in run]
        verdicts = {v.path: v for v in program.verdicts().values()}
        for cut in reversed(cuts(program.fn, paths, verdicts, limits, (*asked,))):
            _fuse(program, run[cut.first : cut.first + cut.count], cut, limits)


def _runs(program: Program, place: Place) -> Iterator[list[str]]:
    """Nests that follow one another, by their outermost loops."""
    run: list[tuple[Path, str]] = []
    for n, (path, s) in enumerate(program.statements(place)):
        follows = run and (*run[-1][0][:-1], run[-1][0][-1] + 1) == path
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


def _fuse(program: Program, run: list[str], cut: Cut, limits: Limits) -> None:
    first = resolve(program.fn, run[0])[0].loop
    asked = program.options.fuse_stages is not None
    least = (limits.compute_units or limits.costs.units) * (
        limits.costs.stream_groups if cut.count == 1 else 1
    )
    groups = "" if asked else str(least)
    inside = [x.var for var in run for x in perfect_nest(resolve(program.fn, var)[0].loop)]
    known = {s.loop.var for s in loops(program.fn)}
    step = FuseStages(tuple(run), *cut.tile.words, groups)
    w = Work(program.derivation.titled(TITLE), {})
    if not w.attempt(step) or too_large(w.fn, limits):
        return
    site = next(s for s in loops(w.fn) if s.loop.var not in known)
    if not is_asked_by_host(w.fn, site):
        return
    program.derivation, outer = w.derivation, site.loop
    what = f"{len(run)} stages in one kernel" if len(run) > 1 else "a row at a time"
    about = f"{what}, {cut.tile.text}"
    loc = first.origin.loc
    choice = TileChoice(FUSE_STAGES.name, tuple(t.option for t in cut.tiles))
    part = Part(outer.var, loc, tuple(inside), "kernel", "", about=about, choice=choice)
    program.parts.append(part)
