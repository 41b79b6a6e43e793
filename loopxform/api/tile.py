"""A function tiled for OpenCL, as Python and the command line use it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial

from loopxform.analysis.inspector import Inspected
from loopxform.api.annotated import require_asserted, require_wanted, wish
from loopxform.api.copied_arrays import told_ends
from loopxform.api.loops_as_meant import as_meant
from loopxform.api.mapped import MappedRoutine
from loopxform.api.permitted import require_order, require_permitted
from loopxform.api.scratch import require_scratch
from loopxform.api.source import SourceRoutine
from loopxform.codegen import emit
from loopxform.errors import IgnoredOption, LimitError, TransformError, UnsupportedC, quoting
from loopxform.floating_point import FloatingPoint
from loopxform.ir.permitted import permitted
from loopxform.prepare.invariant_reductions import with_invariant_reductions
from loopxform.recipes.tile import tile
from loopxform.recipes.tiled import Tiled
from loopxform.schedule.params import PLAIN, Options, Recipe
from loopxform.schedule.requests import Wish
from loopxform.schedule.tiling_options import require_thresholds
from loopxform.targets.profile import profile
from loopxform.targets.target import Limits
from loopxform.transforms import Derivation, thresholds_of


def tile_routine(
    routine: SourceRoutine,
    sizes: Mapping[str, int],
    recipe: Recipe | None,
    limits: Limits | str,
    *,
    fp: FloatingPoint,
    options: Options = PLAIN,
    inspect: bool = True,
) -> TiledRoutine:
    """See `Routine.tile`. With `inspect` ends of arrays that only data tell may be found by the
    host."""
    room = profile(limits) if isinstance(limits, str) else limits
    with quoting(routine.file.parsed.sources):
        require_permitted(routine.function, fp)
        require_wanted(routine)
        require_asserted(routine)
        require_scratch(routine)
        asked = wish(routine)
        allowed = fp.reordering() if asked.options.reassociate else fp
        w = Wish(sizes, recipe, options).over(asked)
        fp_here = permitted(allowed, routine.function)
        meant = as_meant(routine.function)
        known = told_ends(meant) if inspect else Inspected(meant)
        automatic = w.recipe is None and w.options.Rk is None and not w.options.relayout
        try:
            tiled = tile(
                with_invariant_reductions(known.fn) if automatic else known.fn,
                w.sizes,
                w.recipe,
                room,
                strict=w.strict,
                options=w.options.within(fp_here),
            )
            require_thresholds(dict(w.options.threshold), thresholds_of(tiled.derivation))
        except (UnsupportedC, TransformError, LimitError, IgnoredOption) as e:
            raise w.unmet(e) from e
        require_order(tiled.derivation, allowed)
    again = partial(tile_routine, routine, sizes, recipe, limits, fp=fp, options=options)
    uninspected = None if known.inspector is None else partial(again, inspect=False)
    return TiledRoutine(routine, room, allowed, tiled, uninspected, inspector=known.inspector)


@dataclass(frozen=True)
class TiledRoutine(MappedRoutine):
    """A function tiled for OpenCL: the derivation, the kernel, the files, the callable. `tiled` has
    what was chosen, and why.

    Examples:
        >>> import loopxform as lx
        >>> tiled = lx.load("mm.c")["mm"].tile(Ty=4, Tx=4, Tk=4, Ry=2, Rx=2)
        >>> tiled.sizes
        {'Ty': 4, 'Tx': 4, 'Tk': 4, 'Ry': 2, 'Rx': 2}
        >>> tiled.derivation.records[0]
        <Record parallelise i>
    """

    tiled: Tiled
    uninspected: Callable[[], TiledRoutine] | None = field(default=None, repr=False)
    """The same where nobody asks for the ends of arrays: in C, which copies none."""

    def __repr__(self) -> str:
        sizes = "".join(f" {name}={size}" for name, size in self.sizes.items())
        return f"<TiledRoutine {self.routine.name}: {self.tiled.recipe}{sizes}>"

    @property
    def recipe(self) -> str:
        """The recipe that it was tiled by."""
        return self.tiled.recipe

    @property
    def sizes(self) -> dict[str, int]:
        """The tile sizes in use, by name."""
        return self.tiled.sizes

    @property
    def derivation(self) -> Derivation:
        """The steps that led to the tiled program."""
        return self.tiled.derivation

    @cached_property
    def openmp(self) -> emit.Emitted:
        """`NAME_openmp.c`: the tiled program for the CPU. Raises EmitError."""
        if self.uninspected is not None:
            return self.uninspected().openmp
        with quoting(self.routine.file.parsed.sources):
            return emit.openmp(self.derivation, **self.provenance())
