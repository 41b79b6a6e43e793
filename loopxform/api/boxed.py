"""Functions whose loops over steps of time run in boxes, as tiled C."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from loopxform import __version__
from loopxform.api.source import SourceRoutine
from loopxform.codegen import emit
from loopxform.codegen.host import macro_checks
from loopxform.errors import EmitError, quoting
from loopxform.floating_point import FloatingPoint
from loopxform.offload.time_in_c import TimeInC, time_in_c
from loopxform.targets.target import Limits
from loopxform.transforms import Derivation


@dataclass(frozen=True)
class BoxedRoutine:
    """A function with passes of several steps of time; `fp` is what is permitted of floating
    point."""

    routine: SourceRoutine
    fp: FloatingPoint
    found: TimeInC

    @property
    def derivation(self) -> Derivation:
        """The steps that led to it."""
        return self.found.derivation

    @cached_property
    def openmp(self) -> emit.Emitted:
        """`NAME_openmp.c`. Raises EmitError."""
        file = self.routine.file
        macros = macro_checks.errors(self.routine.decisions, file.name)
        with quoting(file.parsed.sources):
            return emit.openmp(
                self.derivation,
                stem=file.stem,
                origin=file.name,
                version=__version__,
                asked=macros,
            )

    def lines(self) -> Iterator[str]:
        """What is said of it."""
        for var, tile in self.found.tiles:
            sizes = " x ".join(map(str, tile.sizes))
            about = f"{tile.steps} steps of time a pass, a thread computes boxes of {sizes}"
            yield f"{self.routine.name}: loop {var}: {about}"


def in_boxes(routine: SourceRoutine, limits: Limits, fp: FloatingPoint) -> BoxedRoutine | None:
    """A function with passes of several steps of time; None where it has no loop over stencils
    that gains by them, or where C cannot say that its arrays are apart."""
    if routine.annotations:
        return None
    found = time_in_c(routine.function, limits)
    boxed = None if found is None else BoxedRoutine(routine, fp, found)
    try:
        return boxed if boxed is not None and boxed.openmp else None
    except EmitError:
        return None
