"""What became of a file: by `tile` where its loops are one nest, by `offload` else; as facts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from loopxform.api.facade import File, Routine
from loopxform.api.mapped import MappedRoutine
from loopxform.api.offload import OffloadedRoutine
from loopxform.api.offloaded_regions import OffloadedRegion
from loopxform.api.splice import OffloadedFile, offload_file
from loopxform.api.tile import TiledRoutine, tile_routine
from loopxform.cli import offload_text, pipeline_text, plan_text, tiling, tuned
from loopxform.cli.summary import headline
from loopxform.cli.users_names import UsersNames
from loopxform.codegen.plan import Plan
from loopxform.errors import LimitError, TransformError, UnsupportedC
from loopxform.floating_point import FloatingPoint
from loopxform.ir.nodes import For
from loopxform.ir.visit import walk
from loopxform.model.blocks import SIZE
from loopxform.offload.pipeline_plan import PlannedKernel
from loopxform.offload.program_state import Part
from loopxform.recipes.tiled import Tiled
from loopxform.records import record
from loopxform.report import costs, derivations, facts, kernels, pipeline_picture, tile_picture
from loopxform.report.costs import Costs
from loopxform.report.names import Names, counted_loops
from loopxform.schedule.params import PLAIN
from loopxform.schedule.tuning_file import Tuned
from loopxform.targets.target import Limits
from loopxform.transforms import possible
from loopxform.tune.memo import Measurement


@record
class Wanted:
    """What a report is made for: a device, what is permitted of floating point, whether NAME.tuning
    counts, and the words of the command line that say so. What was tuned counts for any device,
    unless one is `named`; `measured` is what tuning has measured."""

    limits: Limits
    fp: FloatingPoint
    tuning: bool
    words: str
    named: bool = False
    measured: tuple[Measurement, ...] = ()


@record
class Became:
    """What became of a file; None where nothing did."""

    file: File
    tiled: TiledRoutine | None = None
    offloaded: OffloadedFile | None = None

    @property
    def command(self) -> str:
        return "tile" if self.tiled is not None else "offload"


def became(file: File, wanted: Wanted) -> Became:
    """What `tile` or `offload` would write. Raises LoopxformError."""
    known = {r.name: _tuned(file, r, wanted) for r in file}
    routines = [r for r in file if any(isinstance(s, For) for _, s in walk(r.function.body))]
    only = routines[0] if len(routines) == 1 and _is_one_nest(routines[0]) else None
    if only is not None:
        done = possible(
            lambda: _tiled(only, *known[only.name], wanted),
            UnsupportedC,
            TransformError,
            LimitError,
        )
        if isinstance(done, TiledRoutine):
            return Became(file, tiled=done)
    found = {name: t for name, (t, _) in known.items() if t is not None}
    done_file = offload_file(file, (), {}, wanted.limits, fp=wanted.fp, tuned=found)
    return Became(file, offloaded=done_file)


def _is_one_nest(routine: Routine) -> bool:
    """Whether the function has one loop at its top."""
    return sum(isinstance(s, For) for s in routine.function.body) == 1


def _tuned(file: File, routine: Routine, wanted: Wanted) -> tuple[Tuned | None, str]:
    """What was tuned for a function, as `tile` and `offload` use it, and a note about it."""
    if not wanted.tuning or routine.annotations:
        return None, ""
    device = wanted.limits.name if wanted.named else None
    kind = wanted.limits.architecture
    return tuned.tuned_for(file, routine, device, wanted.fp, architecture=kind)


def _tiled(routine: Routine, known: Tuned | None, note: str, wanted: Wanted) -> TiledRoutine:
    """As it was tuned, else by the defaults; what was tuned for functions like it counts where it
    fits."""
    limits, fp = wanted.limits, wanted.fp
    with routine.contained():
        if known is not None:
            done = possible(
                lambda: tiling.as_tuned(routine, known, note, limits, fp, PLAIN),
                *(tiling.UNFIT if known.shipped else ()),
            )
            if isinstance(done, TiledRoutine):
                return done
        return tile_routine(routine, {}, None, limits, fp=fp)


# ---------------------------------------------------------------- facts


@record
class LoopNote:
    """What is said of the loop that begins on a line: what became of it, and its time."""

    line: int
    mapped: str
    time: str


def mappings(
    done: Became, names: Names, wanted: Wanted
) -> Iterator[tuple[str, facts.Mapping, tuple[LoopNote, ...]]]:
    """What each function became, by its name, with what is said of loops."""
    if done.tiled is not None:
        with done.tiled.routine.contained():
            yield done.tiled.routine.name, *of_tile(done.tiled, names)
    whole = done.offloaded
    for r in whole.regions if whole is not None else ():
        with r.done.routine.contained():
            assert whole is not None
            yield r.region.owner.name, *of_region(r, whole, names, wanted.limits)


def of_tile(done: TiledRoutine, names: Names) -> tuple[facts.Mapping, tuple[LoopNote, ...]]:
    plan = done.opencl.plan
    assert plan is not None
    parts, notes = list[facts.PartFact](), list[LoopNote]()
    for n, tiled in enumerate((done.tiled, *done.tiled.rest), 1):
        line = names.line(tiled.nest.outermost.origin.loc)
        fact = _part(done, tiled, names.of("tile", n))
        data = plan_text.data(replace(done, tiled=tiled))
        tables = ((costs.reused(data), *fact.tables)) if data else fact.tables
        parts.append(replace(fact, line=line, why=tiled.reason, tables=tables))
        notes.append(LoopNote(line, tiled.recipe, fact.time))
    head = headline(done).partition("\n")[0].partition(": ")[2]
    tables = (costs.accesses(done.derivation),)
    sizes = done.tiled.sizes
    return _mapping(done, plan, names, done.routine.name, head, parts, sizes, {}, tables), (*notes,)


def of_region(
    r: OffloadedRegion, of: OffloadedFile, names: Names, limits: Limits
) -> tuple[facts.Mapping, tuple[LoopNote, ...]]:
    """A part of a function that was offloaded."""
    users = UsersNames(of.file)
    if not r.region.whole:
        users = users.passing(of.original.outlined(r.region).passed)
    place = offload_text.named_place(r, of)
    own = replace(names, prefix=names.of(r.region.name))
    return of_offload(r.done, r.entry.plan, own, users, limits, place)


def of_offload(
    done: OffloadedRoutine,
    plan: Plan,
    names: Names,
    users: UsersNames,
    limits: Limits,
    place: str,
) -> tuple[facts.Mapping, tuple[LoopNote, ...]]:
    """What was offloaded, which the user knows as this place."""
    parts, notes = list[facts.PartFact](), list[LoopNote]()
    planned = {k.lines: k for p in done.pipelines for k in p.chosen if k.tile is not None}
    kernel_of = {id(p): name for name, p in offload_text.kernels_of(done, plan).items()}
    by_name = {k.name: k for k in plan.kernels}
    for n, part in enumerate(done.parts, 1):
        line = names.line(part.loc)
        fact = _offloaded_part(done, part, names.of(n), users)
        stages = planned.get(part.lines) if part.lines else None
        if stages is not None and (kernel := by_name.get(kernel_of.get(id(part), ""))):
            picture = pipeline_picture.drawn(f"{names.of(n)}-stages", stages, kernel)
            fact = replace(fact, time=_predicted(stages, limits), pictures=(picture,))
        parts.append(replace(fact, line=line))
        notes += [LoopNote(x, _short(part), fact.time) for x in (part.lines or (line,))]
    tables = tuple(
        facts.Table(
            "Stages of the pipeline in one kernel, by the model",
            ("", *pipeline_text.TITLES[1:]),
            tuple(pipeline_text.table(p, limits)),
            (f"Sizes that are not known are taken as {SIZE}.",),
        )
        for p in pipeline_text.told(done)
    )
    about = offload_text.became(done, plan)
    head = offload_text.headline(plan, place).partition(": ")[2]
    sizes = next((p.tiled.sizes for p in done.parts if p.tiled is not None), {})
    made = _mapping(done, plan, names, place, head, parts, sizes, about, tables)
    return made, tuple(notes)


def _predicted(k: PlannedKernel, limits: Limits) -> str:
    """The time of a kernel of several stages, where the profile knows rates."""
    time = None if k.predicted is None else pipeline_text.milliseconds(k.predicted, limits)
    return "" if time is None else f"{costs.duration(time * 1000)} (sizes {SIZE})"


def _short(part: Part) -> str:
    """What a part became, in a word or two."""
    if part.kind == "host":
        return "host, in order"
    if part.lines:
        return f"{len(part.lines)} nests in one kernel"
    if part.tiled is not None:
        return part.tiled.recipe
    return "kernel" if part.kind == "kernel" else "one work-item"


def _offloaded_part(
    done: OffloadedRoutine, part: Part, name: str, users: UsersNames
) -> facts.PartFact:
    title = counted_loops(map(users.of, part.loops)) if part.loops else "statements"
    why = users.in_text(part.why) if part.why else ""
    if part.kind == "host":
        return facts.PartFact(title, 0, "on the host, in order", why)
    if part.tiled is None or part.about:
        return facts.PartFact(title, 0, offload_text.form(part), why)
    return replace(_part(done, part.tiled, name, users.of), title=title, why=why)


def _part(
    done: MappedRoutine, tiled: Tiled, name: str, own: Callable[[str], str] = str
) -> facts.PartFact:
    """A nest that was tiled, with its pictures and tables."""
    known = Costs.of(tiled, done.limits, done.fp)
    sizes = ", ".join(f"{n}={v}" for n, v in tiled.sizes.items())
    drawn = (tile_picture.drawn(f"{name}-tile", tiled, own), known.roofline(f"{name}-roof"))
    return facts.PartFact(
        title=counted_loops(d.loop for d in tiled.choice.dims),
        line=0,
        form=f"{tiled.choice.title}, {sizes}" if sizes else tiled.choice.title,
        why=tiled.reason,
        time=known.time,
        gain=known.gain,
        pictures=tuple(x for x in drawn if x),
        tables=(*costs.moved(tiled, done.limits), *known.tables()),
    )


def _mapping(
    done: MappedRoutine,
    plan: Plan,
    names: Names,
    title: str,
    head: str,
    parts: Sequence[facts.PartFact],
    sizes: Mapping[str, int],
    about: Mapping[str, str],
    tables: tuple[facts.Table, ...],
) -> facts.Mapping:
    stages, shown = derivations.stages(done.derivation, sizes)
    found, left = kernels.kernel_facts(plan, names.file, about, sizes)
    return facts.Mapping(
        title=title,
        headline=head,
        parts=tuple(parts),
        stages=stages[: derivations.MOST_STAGES],
        stages_left=max(0, len(stages) - derivations.MOST_STAGES),
        variants=derivations.variants(done.derivation),
        shown=shown,
        skipped=derivations.skipped(done.derivation),
        kernels=found,
        kernels_left=left,
        tables=tables,
    )
