"""A planned program as a callable on numpy arrays and pyopencl arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from itertools import combinations
from threading import RLock
from typing import Any

import numpy as np

from loopxform.codegen.host.buffers import Buffer
from loopxform.codegen.plan import Plan
from loopxform.codegen.structs import pointed, roots
from loopxform.display import Shown
from loopxform.errors import ArgumentError, DeviceError
from loopxform.ir.device_facts import WARP
from loopxform.ir.evaluate import evaluate
from loopxform.ir.nodes import Param
from loopxform.ir.visit import names
from loopxform.runtime.arguments import bind, ends_of, number, rounded
from loopxform.runtime.arrays import memory_of, rows_fit
from loopxform.runtime.build import options_for
from loopxform.runtime.device import DeviceInfo
from loopxform.runtime.launch import (
    BufferParam,
    KernelParam,
    Launch,
    Launcher,
    Moved,
    Room,
    ScalarParam,
    Spare,
    Taken,
    launch_again,
    launch_all,
    launch_told,
)
from loopxform.runtime.memory import Memory
from loopxform.runtime.queue import Queue
from loopxform.runtime.queues import queue_on
from loopxform.runtime.schedule import Ask, DataAhead, launched, not_known
from loopxform.runtime.structs import with_numbers


class CompiledKernel(Shown):
    """Runs the kernels with the arguments of the C function, in its order or by name; variables of
    the file that it uses are given by name.

    Of numpy arrays the parts that the plan names are copied in and out; `pyopencl.array.Array`s
    stay on the device. Arrays are C-contiguous, of the element type of the C parameter, and either
    of one dimension, with at least as many elements as the program touches, or of the C shape, with
    at least as many rows. Written arrays overlap no other. Structs are numpy arrays of the
    structured dtype that has their layout (`Routine.dtype`); what a pointer inside one points to is
    given by name: `s_a` for `s->a`. Numbers are those the C type can hold. Several threads may call
    at once; `nanoseconds` is the device time of the call that ended last, `taken` that of its
    kernels too. `keys` looks at the arguments whose elements decide subscripts, and raises
    ArgumentError; without it they must be in range.

    Raises ArgumentError (a TypeError too) where an argument does not fit, before anything runs, and
    DeviceError where the device fails.
    """

    def __init__(
        self,
        plan: Plan,
        device: DeviceInfo,
        *,
        queue: Queue | None = None,
        keys: Callable[[Mapping[str, Any]], None] | None = None,
    ) -> None:
        self.plan = plan
        self.device = device
        self._keys = keys
        _fits(plan, device)
        self.queue = queue or queue_on(device)
        self._launchers: dict[int, Launcher] = {}
        self._building = RLock()
        self._programs = {n: kernels for kernels in plan.programs for n in kernels}
        for n in plan.programs[-1]:  # a device that builds nothing says so before the first call
            self._launcher(n)
        self._globals = _globals(plan)
        self._spare = Spare()
        self.taken: Taken | None = None

    def __repr__(self) -> str:
        return f"<CompiledKernel {self.plan.written.name} on {self.device}>"

    @property
    def nanoseconds(self) -> int | None:
        """Device time from the start of the first kernel to the end of the last."""
        return None if self.taken is None else self.taken.span

    def _launcher(self, n: int) -> Launcher:
        """A kernel by its number; its program is built when one of it is launched first. Raises
        DeviceError."""
        with self._building:
            if n not in self._launchers:
                k, source = self.plan.kernels[n], self.plan.program(self._programs[n])
                params = [_param(a) for a in k.arguments]
                options = options_for(
                    self.device,
                    division=k.division,
                    tiles=self.plan.tile_products,
                    groups=self.plan.group_products,
                )
                self._launchers[n] = Launcher(
                    self.device, source, k.name, params, options, queue=self.queue
                )
            return self._launchers[n]

    def __call__(self, *args: Any, **named: Any) -> None:
        """Runs the kernels. Raises ArgumentError, DeviceError."""
        follow, rooms = self._prepared(args, named)
        with _no_division():
            try:
                launches = list(follow(not_known))
            except DataAhead:
                told = partial(self._told, follow, rooms)
                self.taken = launch_told(self._launcher(self.plan.programs[-1][0]), told)
            else:
                self.taken = launch_all(launches, self._spare) if launches else Taken(0, 0, 0)

    def again(self, times: int, **named: Any) -> list[int]:
        """Device time in ns of so many calls (`times`) with the arguments `named`, one directly
        after the other where no data have to be read in between: each from the end of the one
        before, the first from its start."""
        follow, _ = self._prepared((), named)
        with _no_division():
            try:
                launches = list(follow(not_known))
            except DataAhead:
                launches = []
            if launches:
                return launch_again(launches, times, self._spare)
        out = []
        for _ in range(times):
            self(**named)
            out.append(self.nanoseconds or 0)
        return out

    def parts(self, **named: Any) -> list[tuple[int, int]]:
        """The kernels that a call with the arguments `named` launches, by number and in order, each
        with its device time in ns. Raises ArgumentError; DataAhead where what is launched depends
        on data."""
        follow, _ = self._prepared((), named)
        with _no_division():
            launches = [x for x in follow(not_known) if 0 not in x.global_size]
        taken = launch_all(launches, self._spare) if launches else None
        numbers = {id(launcher): n for n, launcher in self._launchers.items()}
        each = () if taken is None else taken.each
        return [(numbers[id(x.launcher)], time) for x, time in zip(launches, each)]

    def _prepared(
        self, args: tuple[Any, ...], named: Mapping[str, Any]
    ) -> tuple[Callable[[Ask], Iterator[Launch]], dict[str, Any]]:
        """What gives the launches of a call, and the arrays of the device. Raises ArgumentError."""
        given = bind(self.plan.written, self._globals, args, named)
        values = with_numbers(self.plan.written, self.plan.plain_names, given)
        values.update(ends_of(self.plan.start, values))
        for p in self.plan.start.objects:
            if not p.array and p.name in values:
                values[p.name] = number(p.name, p.type.numpy, values[p.name], p.type.c)
        scalars = {n: int(v) for n, v in values.items() if isinstance(v, int)}
        scalars[WARP.name] = 1 if self.device.type == "cpu" else WARP.value
        with _no_division():
            self._check(values, {**_reals(self.plan, values), **scalars})
            if self._keys is not None:
                self._keys(given)
            buffers = self.plan.buffers
            moved = {b.param.name: _moved(b, values[b.param.name], scalars) for b in buffers}
            rooms = {b.param.name: room_for(b, moved, scalars) for b in self.plan.temporaries}
        return partial(self._launches, {**values, **rooms, **moved}, scalars), rooms

    def _launches(
        self, given: Mapping[str, Any], scalars: dict[str, int], ask: Ask
    ) -> Iterator[Launch]:
        for which, now in launched(self.plan, scalars, ask):
            k, known = self.plan.kernels[which], {**given, **now}
            total = [g * s for g, s in zip(k.groups(now), k.group_shape)]
            ordered = [known[_name(a)] for a in k.arguments]
            yield Launch(self._launcher(which), ordered, total, k.group_shape)

    def _told(
        self,
        follow: Callable[[Ask], Iterator[Launch]],
        rooms: Mapping[str, Any],
        read: Callable[[Room], int],
    ) -> Iterator[Launch]:
        """The launches, as the data in the flags say."""
        return follow(lambda flag: read(rooms[flag]))

    def _check(self, values: Mapping[str, Any], scalars: Mapping[str, int]) -> None:
        for condition in self.plan.conditions:
            if not evaluate(condition.expr, scalars):
                raise ArgumentError(condition.why)
        places = {b.param.name: self._place(b, values, scalars) for b in self.plan.buffers}
        for a, b in combinations(self.plan.buffers, 2):
            x, y = a.param.name, b.param.name
            if (a.written or b.written) and places[x].meets(places[y]):
                raise ArgumentError(
                    f"{x} and {y} overlap",
                    help="give each its own array: the kernel writes one of them",
                )

    def _place(self, b: Buffer, values: Mapping[str, Any], scalars: Mapping[str, int]) -> Memory:
        """The memory of an array, which has room for what the program touches."""
        p = b.param
        place = memory_of(
            p.name, values[p.name], p.type.numpy, read=True, written=b.written, queue=self.queue
        )
        touched = b.when is None or evaluate(b.when, scalars)
        wanted = b.count if isinstance(values[p.name], np.ndarray) else b.room
        needed = evaluate(wanted, scalars) if touched else 0
        if place.elements < needed:
            raise ArgumentError(
                f"{p.name} has {place.elements} elements, the program touches {needed}",
                help=f"for these sizes {p.name} needs {needed} elements",
            )
        if needed > 0 and place.shape is not None:
            declared = p.declared if isinstance(p, Param) else ()
            shapes = [p.shape[1:], *([declared[1:]] if declared else [])]
            fitting = [[evaluate(d, scalars) for d in s if d is not None] for s in shapes]
            if not any(rows_fit(place.shape, inner, flat=p.flat) for inner in fitting):
                shape = "".join(f"[{n}]" for n in fitting[-1])
                raise ArgumentError(
                    f"{p.name} has the shape {place.shape}, the program uses it as [...]{shape}",
                    help=f"{p.name}.reshape(-1) is taken as plain memory",
                )
        return place


def _reals(plan: Plan, values: Mapping[str, Any]) -> dict[str, Any]:
    """The real numbers of a call, rounded as they are passed."""
    floats = (p for p in plan.start.objects if not p.array and p.type.is_float)
    return {p.name: rounded(p.type.numpy, values[p.name]) for p in floats if p.name in values}


def _globals(plan: Plan) -> list[str]:
    """The variables of the file that a call needs: for the kernel, or to check its arguments."""
    sizes = [*plan.sizes, *(d for b in plan.buffers for d in b.param.shape[1:] if d)]
    sizes += [c.expr for c in plan.conditions]
    used = {_name(a) for a in plan.arguments} | {n for e in sizes for n in names(e)}
    plain = {new: old.partition(".")[0] for old, new in plan.plain_names.items()}
    behind = [plan.plain_names[n] for n in pointed(plan.written) if plan.plain_names[n] in used]
    used |= {plain[n] for n in used & plain.keys()}
    return [*(n for n in roots(plan.written.globals) if n in used), *behind]


@contextmanager
def _no_division() -> Iterator[None]:
    try:
        yield
    except ZeroDivisionError:
        raise ArgumentError("a size is divided by zero") from None


def _fits(plan: Plan, device: DeviceInfo) -> None:
    """Asked before building: some compilers end the process over what does not fit."""
    if plan.local_bytes > device.local_bytes:
        has = f"{device} has {device.local_bytes} bytes of local memory"
        raise DeviceError(f"the tiles need {plan.local_bytes}, {has}", help="use smaller tiles")
    if plan.computes_double and not device.fp64:
        help = "compute in float: 0.5f instead of 0.5, sqrtf instead of sqrt"
        raise DeviceError(f"the loops compute in double, which {device} lacks", help=help)
    if plan.needs_ieee_floats and not device.ieee_floats:
        what = "subnormal floats, infinities, or rounding to nearest"
        help = "permit more: fp='contract', --fp contract"
        raise DeviceError(f"{device} lacks {what}", help=help)
    if plan.needs_rounding and not device.correctly_rounded:
        help = "permit more: fp='contract', --fp contract"
        raise DeviceError(f"{device} does not divide floats as C does", help=help)
    if plan.group_size > device.max_group_size:
        has = f"{device} takes {device.max_group_size}"
        raise DeviceError(
            f"a group has {plan.group_size} work-items, {has}", help="use smaller tiles"
        )


def _bytes(b: Buffer, scalars: Mapping[str, int]) -> int:
    return max(0, evaluate(b.count, scalars)) * b.param.type.bytes


def room_for(b: Buffer, arrays: Mapping[str, Any], scalars: Mapping[str, int]) -> Any:
    """Room for an array of the device; where it is not needed, the one of the caller's that stands
    for it."""
    needed = b.when is None or evaluate(b.when, scalars)
    return Room(_bytes(b, scalars)) if needed else arrays.get(b.like, Room(0))


def _moved(b: Buffer, value: Any, scalars: Mapping[str, int]) -> Any:
    """An array of the host with what of it is copied; others are left in place. There is room even
    where nothing is touched: a kernel may load what no iteration of an inner loop then uses."""
    if not isinstance(value, np.ndarray):
        return value
    elements = max(0, evaluate(b.room, scalars))
    return Moved(value, elements, *(b.elements(part, scalars) for part in (b.into, b.back)))


def _name(a: Buffer | Param) -> str:
    return a.param.name if isinstance(a, Buffer) else a.name


def _param(a: Buffer | Param) -> KernelParam:
    if isinstance(a, Param):
        return ScalarParam(a.name, a.type.argument)
    return BufferParam(a.param.name, a.param.type.numpy, True, a.written)
