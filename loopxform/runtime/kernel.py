"""A planned kernel as a callable on numpy arrays and pyopencl arrays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from loopxform.codegen.buffers import Buffer
from loopxform.codegen.plan import KernelPlan
from loopxform.errors import DeviceError
from loopxform.ir.evaluate import evaluate
from loopxform.ir.nodes import Param
from loopxform.runtime.build import options_for
from loopxform.runtime.device import DeviceInfo
from loopxform.runtime.launch import BufferParam, KernelParam, Launcher, ScalarParam


class CompiledKernel:
    """Calls the kernel with the arguments of the C function, in its order or by name.

    numpy arrays are copied in and out; `pyopencl.array.Array`s stay on the device. Arrays are
    C-contiguous, of the element type of the C parameter, with at least as many elements as the
    program touches; written arrays overlap no other. `nanoseconds` is the device time of the last
    call. Raises DeviceError.
    """

    def __init__(self, plan: KernelPlan, device: DeviceInfo, *, queue: Any = None) -> None:
        self.plan = plan
        self.device = device
        _fits(plan, device)
        params = [_param(a) for a in plan.arguments]
        options = options_for(device)
        self._launcher = Launcher(device, plan.source, plan.name, params, options, queue=queue)
        self.nanoseconds: int | None = None

    @property
    def queue(self) -> Any:
        return self._launcher.queue

    def __call__(self, *args: Any, **named: Any) -> None:
        values = self._named(args, named)
        scalars = {
            p.name: int(values[p.name])
            for p in self.plan.start.objects
            if not p.array and p.name in values and p.type.is_integer
        }
        self._check(values, scalars)
        groups = self.plan.groups(scalars)
        shape = self.plan.group_shape
        total = [g * s for g, s in zip(groups, shape)]
        ordered = [values[_name(a)] for a in self.plan.arguments]
        self.nanoseconds = self._launcher.launch(ordered, total, shape)

    def _named(self, args: tuple[Any, ...], named: Mapping[str, Any]) -> dict[str, Any]:
        params = [p.name for p in self.plan.start.params]
        if len(args) > len(params):
            raise DeviceError(
                f"{self.plan.start.name} takes {len(params)} arguments, {len(args)} are given"
            )
        unknown = sorted(set(named) - {p.name for p in self.plan.start.objects})
        if unknown:
            raise DeviceError(f"{self.plan.start.name} has no argument '{unknown[0]}'")
        values = {**dict(zip(params, args)), **named}
        missing = [_name(a) for a in self.plan.arguments if _name(a) not in values]
        if missing:
            raise DeviceError(
                f"argument '{missing[0]}' is missing",
                help=f"{self.plan.start.name}({', '.join(params)})",
            )
        return values

    def _check(self, values: Mapping[str, Any], scalars: Mapping[str, int]) -> None:
        for condition in self.plan.conditions:
            if not evaluate(condition.expr, scalars):
                raise DeviceError(condition.why)
        for a in self.plan.buffers:
            self._check_size(a, values[a.param.name], scalars)
            for b in self.plan.buffers:
                if a.written and a is not b and _overlap(values, a, b):
                    raise DeviceError(
                        f"{a.param.name} and {b.param.name} overlap",
                        help="give each its own array: the kernel writes one of them",
                    )

    def _check_size(self, a: Buffer, value: Any, scalars: Mapping[str, int]) -> None:
        size = np.dtype(a.param.type.numpy).itemsize
        touched = a.when is None or evaluate(a.when, scalars)
        needed = evaluate(a.count, scalars) if touched else 0
        given = _bytes(value, size) // size
        if given < needed:
            raise DeviceError(
                f"{a.param.name} has {given} elements, the program touches {needed}",
                help=f"for these sizes {a.param.name} needs {needed} elements",
            )
        if a.written and isinstance(value, np.ndarray) and not value.flags.writeable:
            raise DeviceError(f"{a.param.name} is read-only, the program writes it")


def _bytes(value: Any, size: int) -> int:
    """Bytes of a numpy or device array; of a `pyopencl.Buffer`. What is none of these is refused
    at launch."""
    found = getattr(value, "nbytes", None)
    if found is None:
        found = getattr(value, "size", 0)
    return int(found) if isinstance(found, int | np.integer) else size


def _overlap(values: Mapping[str, Any], a: Buffer, b: Buffer) -> bool:
    x, y = values[a.param.name], values[b.param.name]
    if isinstance(x, np.ndarray) and isinstance(y, np.ndarray):
        return bool(np.may_share_memory(x, y))
    x, y = (getattr(v, "base_data", v) for v in (x, y))
    return x is y or (x == y) is True


def _fits(plan: KernelPlan, device: DeviceInfo) -> None:
    """Asked before building: some compilers end the process over what does not fit."""
    if plan.local_bytes > device.local_bytes:
        has = f"{device} has {device.local_bytes} bytes of local memory"
        raise DeviceError(f"the tiles need {plan.local_bytes}, {has}", help="use smaller tiles")
    if plan.mapping.group_size > device.max_group_size:
        has = f"{device} takes {device.max_group_size}"
        raise DeviceError(
            f"a group has {plan.mapping.group_size} work-items, {has}", help="use smaller tiles"
        )


def _name(a: Buffer | Param) -> str:
    return a.param.name if isinstance(a, Buffer) else a.name


def _param(a: Buffer | Param) -> KernelParam:
    if isinstance(a, Param):
        return ScalarParam(a.name, a.type.numpy)
    return BufferParam(a.param.name, a.param.type.numpy, True, a.written)
