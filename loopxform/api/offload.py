"""A whole function as kernels with host control flow, as Python and the command line use it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial

from loopxform.api.annotated import require_asserted, require_wanted, wishes
from loopxform.api.dead_branches import without_dead_branches
from loopxform.api.loops_as_meant import as_meant
from loopxform.api.mapped import MappedRoutine
from loopxform.api.permitted import require_order, require_permitted
from loopxform.api.scratch import require_scratch
from loopxform.api.source import SourceRoutine
from loopxform.errors import IgnoredOption, LimitError, quoting
from loopxform.floating_point import FloatingPoint
from loopxform.offload.flattened import Offloaded
from loopxform.offload.pipeline_plan import PipelinePlan
from loopxform.offload.program import offload
from loopxform.offload.program_state import Part
from loopxform.prepare.invariant_reductions import with_invariant_reductions
from loopxform.schedule.offload_options import OFFLOAD
from loopxform.schedule.params import PLAIN, Options
from loopxform.schedule.tiling_options import require_thresholds
from loopxform.schedule.tuning_file import Tuned
from loopxform.targets.profile import profile
from loopxform.targets.target import Limits
from loopxform.transforms import Derivation, possible, thresholds_of


def offload_routine(
    routine: SourceRoutine,
    sizes: Mapping[str, int],
    limits: Limits | str,
    *,
    fp: FloatingPoint,
    options: Options = PLAIN,
    tuned: Tuned | None = None,
    with_loops: bool = True,
) -> OffloadedRoutine:
    """See `Routine.offload`; with what was `tuned` for its nest, where no sizes are given and
    these fit. `with_loops`: there has to be one."""
    room = profile(limits) if isinstance(limits, str) else limits
    if tuned is not None:
        options = options.over(Options(threshold=tuple(tuned.thresholds.items())))
    with quoting(routine.file.parsed.sources):
        require_permitted(routine.function, fp)
        require_wanted(routine)
        require_asserted(routine)
        require_scratch(routine)
        plain = partial(
            offload,
            with_invariant_reductions(as_meant(without_dead_branches(routine.function))),
            sizes=sizes,
            limits=room,
            options=options,
            asked=wishes(routine),
            fp=fp,
            with_loops=with_loops,
        )
        found = possible(partial(_as_tuned, plain, tuned, options), LimitError)
        done = plain() if isinstance(found, LimitError) else found
        asked = wishes(routine)
        require_order(done.derivation, fp, asked)
    reordered = any(w.options.reassociate for w in (asked.common, *asked.at.values()))
    return OffloadedRoutine(routine, room, fp.reordering() if reordered else fp, done)


def _as_tuned(plain: Callable[..., Offloaded], tuned: Tuned | None, asked: Options) -> Offloaded:
    """As it was measured: by the recipe that is chosen anyway, else by the one that was tuned.
    Raises LimitError."""
    if tuned is None:
        return plain()
    options = asked.over(tuned.asked)
    done = plain(sizes=tuned.sizes, options=options)
    recipes = {p.tiled.recipe for p in done.parts if p.tiled is not None} - {"group"}
    if tuned.recipe is None or recipes <= {tuned.recipe}:
        return done
    return plain(sizes=tuned.sizes, options=options, recipe=tuned.recipe)


def require_compared(
    options: Options, routines: Iterable[SourceRoutine], derivations: Iterable[Derivation]
) -> None:
    """Raises IgnoredOption for a threshold of the options, and AnnotationError for one of an
    annotation, that no guard of what was derived compares with."""
    known = {name for d in derivations for name in thresholds_of(d)}
    require_thresholds(dict(options.threshold), known)
    for w in (w for r in routines for w in wishes(r).at.values()):
        try:
            require_thresholds(dict(w.options.threshold), known)
        except IgnoredOption as e:
            raise w.unmet(e) from e


@dataclass(frozen=True)
class OffloadedRoutine(MappedRoutine):
    """A whole function for OpenCL: the derivation, the kernels, the files, the callable.

    Examples:
        >>> import loopxform as lx
        >>> lx.load("mm.c")["mm"].offload()
        <OffloadedRoutine mm: 1 parts>
    """

    offloaded: Offloaded

    def __repr__(self) -> str:
        return f"<OffloadedRoutine {self.routine.name}: {len(self.parts)} parts>"

    @property
    def recipe(self) -> str:
        """`offload`: each nest has a recipe of its own (`parts`)."""
        return OFFLOAD

    @property
    def sizes(self) -> dict[str, int]:
        """None of its own: each nest has some (`parts`)."""
        return {}

    @property
    def derivation(self) -> Derivation:
        """The steps that led to the mapped program."""
        return self.offloaded.derivation

    @property
    def parts(self) -> tuple[Part, ...]:
        """What each part of the function became, in text order, and why."""
        return self.offloaded.parts

    @property
    def pipelines(self) -> tuple[PipelinePlan, ...]:
        """Which neighbouring nests are one kernel, and what the model says of it."""
        return self.offloaded.pipelines
