"""A function of several nests as `offload` maps it, with each tile of its pipelines and loops over
time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from loopxform.api.mapped import MappedRoutine
from loopxform.api.offload import offload_routine
from loopxform.bench.lineup import Lineup
from loopxform.bench.variants import Variant
from loopxform.schedule.offload_options import OF_PROGRAMS, program_options


@dataclass(frozen=True)
class ProgramLineup(Lineup):
    """The variants of a function of several nests: its recipe is that of `offload`."""

    def base(self) -> MappedRoutine:
        """Without any such tile."""
        return self._tiled(Variant(None, tuple((name, "0") for name in OF_PROGRAMS)), {})

    def _tiled(self, v: Variant, sizes: Mapping[str, int]) -> MappedRoutine:
        options = program_options(dict(v.varied)).over(self.options)
        return offload_routine(self.routine, sizes, self.limits, fp=self.fp, options=options)
