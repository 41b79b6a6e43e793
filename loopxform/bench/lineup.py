"""Who is timed: the variants that can be had, and libraries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from loopxform.api.facade import Routine
from loopxform.api.mapped import MappedRoutine
from loopxform.bench.clblast import CLBlast
from loopxform.bench.cublas import cublas
from loopxform.bench.kernels import Kernels, kernels
from loopxform.bench.measure import REFUSALS, Contestant, Row
from loopxform.bench.product import product_of
from loopxform.bench.variants import Variant
from loopxform.errors import UsageError, quoting
from loopxform.floating_point import FloatingPoint
from loopxform.runtime.device import DeviceInfo, place_on_bus
from loopxform.runtime.queue import Queue
from loopxform.schedule.params import Options
from loopxform.targets.target import Limits


@dataclass(frozen=True)
class Lineup:
    """What all variants of a nest have in common."""

    routine: Routine
    sizes: Mapping[str, int]
    limits: Limits
    options: Options
    fp: FloatingPoint
    device: DeviceInfo
    queue: Queue

    def base(self) -> MappedRoutine:
        """The naive kernel; where the function becomes several nests, those. Raises UnsupportedC
        where no loop can run in parallel."""
        try:
            return self._tiled(Variant("naive"), {})
        except REFUSALS:
            return self._tiled(Variant(None), {})

    def variants(self, wanted: Sequence[Variant]) -> list[Contestant | Row]:
        """The variants in order, with a row for those that cannot be had. Kernels that are the same
        are timed once, under all of their names."""
        out = dict[str, Contestant | Row]()
        for v in wanted:
            try:
                found = self._kernels(v)
            except REFUSALS as e:
                why = "; ".join([e.message, *e.notes[:1]])
                out[v.label] = Row(v.label, "variant", refused=why)
                continue
            same = out.get(found.plan.source)
            names = [] if same is None else same.label.split(" = ")
            label = " = ".join(dict.fromkeys([*names, found.label]))
            out[found.plan.source] = replace(found, label=label)
        return list(out.values())

    def _kernels(self, v: Variant) -> Kernels:
        tiled = self.tiled(v)
        return self.kernels(v.used(tiled.sizes).label, tiled)

    def tiled(self, v: Variant) -> MappedRoutine:
        """The nest tiled as a variant. Raises UnsupportedC, TransformError, LimitError."""
        return self._tiled(v, self.sizes)

    def kernels(self, label: str, tiled: MappedRoutine) -> Kernels:
        """The kernels of a nest that is tiled, built. Raises EmitError, DeviceError."""
        return kernels(label, tiled, self.device, self.queue)

    def _tiled(self, v: Variant, sizes: Mapping[str, int]) -> MappedRoutine:
        return v.tiled(self.routine, sizes, self.limits, self.options, fp=self.fp)

    def libraries(self, names: Iterable[str]) -> list[Contestant]:
        """Libraries that compute what the nest does. Raises UnsupportedC where it is no matrix
        product, InputError where a library is not found, UsageError where it is for other devices.
        """
        with quoting(self.routine.file.parsed.sources):
            return [self._library(name) for name in dict.fromkeys(names)]

    def _library(self, name: str) -> Contestant:
        product = product_of(self.routine.function)
        if name == "clblast":
            if self.device.is_c:
                message = f"clblast runs on OpenCL devices, and this is {self.device}"
                raise UsageError(message, help="choose one with --device", subject="--against")
            return CLBlast(product, self.queue)
        place = place_on_bus(self.device)
        if place is None:
            message = f"cublas runs on NVIDIA devices, and this is {self.device}"
            help = "choose one with --device, or use --against clblast"
            raise UsageError(message, help=help, subject="--against")
        return cublas(product, place)
