"""Variants as they are timed: their kernels, on arrays that stay on the device."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from loopxform.api.mapped import MappedRoutine
from loopxform.bench.measure import Kind
from loopxform.codegen import emit
from loopxform.codegen.plan import Plan
from loopxform.runtime.device import DeviceInfo
from loopxform.runtime.kernel import CompiledKernel
from loopxform.runtime.queue import Queue
from loopxform.runtime.resident import Resident
from loopxform.verify.check_run import allowed_of
from loopxform.verify.tolerance import Tolerance


@dataclass(frozen=True)
class Kernels:
    """The kernels of a variant. Structs stay on the host: they are copied for each launch, which is
    not counted."""

    label: str
    details: Mapping[str, int]
    plan: Plan
    compiled: CompiledKernel
    allowed: Tolerance
    kind: Kind = "variant"

    def result(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments after one launch. Raises DeviceError."""
        if self.plan.written.structs:
            return self._on_host(given)
        on_device = self._resident(given)
        self.compiled(**on_device.arguments)
        written = [b.param.name for b in self.plan.buffers if b.written]
        return {**given, **{n: on_device.fetch(n) for n in written}}

    def times(self, given: Mapping[str, Any], launches: int) -> list[int]:
        """Nanoseconds of each launch, from the start of the first kernel to the end of the last;
        each works on what was given. They follow one another without a pause where none has to
        restore an array, as the calls of libraries do. Raises DeviceError."""
        taken: list[int] = []
        on_device = None if self.plan.written.structs else self._resident(given)
        changed = [b.param.name for b in self.plan.buffers if b.written and b.exposed]
        if on_device is not None and not changed:
            return self.compiled.again(launches, **on_device.arguments)
        for _ in range(launches):
            if on_device is None:
                self._on_host(given)
            else:
                on_device.renew(changed)
                self.compiled(**on_device.arguments)
            taken.append(self.compiled.nanoseconds or 0)
        return taken

    def parts(self, given: Mapping[str, Any], launches: int) -> list[list[tuple[int, int]]]:
        """For each launch its kernels in order, by number, with the nanoseconds that each took.
        Raises DeviceError."""
        taken = []
        on_device = self._resident(given)
        changed = [b.param.name for b in self.plan.buffers if b.written and b.exposed]
        for _ in range(launches):
            on_device.renew(changed)
            taken.append(self.compiled.parts(**on_device.arguments))
        return taken

    def _resident(self, given: Mapping[str, Any]) -> Resident:
        arrays = [b.param.name for b in self.plan.buffers]
        return Resident(self.compiled.queue, given, arrays)

    def _on_host(self, given: Mapping[str, Any]) -> dict[str, Any]:
        out = copy.deepcopy(dict(given))
        plain = self.plan.plain_names
        self.compiled(**{plain.get(n, n): v for n, v in out.items()})
        return out


def kernels(label: str, tiled: MappedRoutine, device: DeviceInfo, queue: Queue) -> Kernels:
    """The kernels of a variant, built. Raises EmitError, DeviceError."""
    plan = emit.kernel(tiled.derivation, fp=tiled.fp)
    allowed = allowed_of(plan, device)
    compiled = CompiledKernel(plan, device, queue=queue)
    return Kernels(label, tiled.sizes, plan, compiled, allowed)
