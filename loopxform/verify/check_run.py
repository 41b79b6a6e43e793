"""Running a planned kernel against the user's own C, element by element."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from loopxform.analysis.extent import extent
from loopxform.codegen.plan import Plan
from loopxform.errors import UsageError
from loopxform.ir.evaluate import evaluate
from loopxform.ir.nodes import Function
from loopxform.ir.printer import expr_text
from loopxform.ir.visit import names
from loopxform.runtime.arguments import rounded
from loopxform.runtime.device import DeviceInfo
from loopxform.runtime.kernel import CompiledKernel
from loopxform.runtime.structs import leaves, member, with_members
from loopxform.verify.compare import Mismatch, compare
from loopxform.verify.cref import CSource, Library
from loopxform.verify.inputs import make_inputs
from loopxform.verify.sizes import checked_sizes
from loopxform.verify.tolerance import Tolerance, tolerance_of
from loopxform.verify.values import Wanted, chosen


@dataclass(frozen=True)
class RunResult:
    """What was compared and how long the kernel took (ns on the device)."""

    elements: int
    arrays: tuple[str, ...]
    mismatches: tuple[Mismatch, ...]
    nanoseconds: int | None
    allowed: Tolerance

    @property
    def ok(self) -> bool:
        return not self.mismatches


def arguments(
    fn: Function,
    sizes: Mapping[str, int | float],
    seed: int,
    inputs: Mapping[str, Wanted] | None = None,
) -> dict[str, Any]:
    """Random arguments; `inputs` says which values arrays have. Raises UsageError where a size is
    missing or cannot be, or where the elements of an array are subscripts and cannot be told."""
    given = checked_sizes(fn, sizes)
    integers = {n: v for n, v in given.items() if isinstance(v, int)}
    shapes: dict[str, int] = {}
    for p in fn.objects:
        if p.array and p.shape[0] is None:
            found = extent(fn, p.name)
            shapes[p.name] = max(0, evaluate(found.upper[0], integers)) if found else 1
    values = chosen(fn, inputs or {}, given)
    return make_inputs(fn, given, seed, shapes=shapes, values=values)


class Reference:
    """The user's own C, compiled once, to be run on several inputs."""

    def __init__(self, source: CSource, fn: Function) -> None:
        self.source, self.fn = source, fn

    @cached_property
    def library(self) -> Library:
        return Library(self.source, [self.fn])

    def arguments(
        self,
        sizes: Mapping[str, int | float],
        seed: int,
        inputs: Mapping[str, Wanted] | None = None,
    ) -> dict[str, Any]:
        """Random arguments for which the program stays inside its arrays, its constants among them.
        Raises UsageError, InputError."""
        given = arguments(self.fn, sizes, seed, inputs)
        _require_assumptions(self.fn, given)
        _require_inside(self.fn, given)
        self.library.read_constants(self.fn.name, given)
        return given

    def expected(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments after the program has run."""
        out = copy.deepcopy(dict(given))
        self.library.run(self.fn.name, out)
        return out


def differences(
    plan: Plan, expected: Mapping[str, Any], actual: Mapping[str, Any], allowed: Tolerance
) -> tuple[tuple[str, ...], tuple[Mismatch, ...]]:
    """The names of what the program writes for others to read, and the elements of these that
    differ."""
    want, have = numbers(plan.written, expected), numbers(plan.written, actual)
    user = {new: old for old, new in plan.plain_names.items()}
    counting = (b for b in plan.buffers if b.written and b.param.name not in plan.start.scratch)
    changed = [user.get(b.param.name, b.param.name) for b in counting]
    written = tuple(n for x in changed for n in want if n == x or n.startswith(f"{x}["))
    found = tuple(m for n in written for m in _differences(n, want[n], have[n], allowed))
    return written, found


def allowed_of(plan: Plan, device: DeviceInfo) -> Tolerance:
    """What the kernels may differ from the C by, for what the plan permits."""
    rounded = device.correctly_rounded and not plan.fp.approximate
    found = tolerance_of(plan.written, contract=plan.fp.contract, rounded=rounded)
    return replace(found, reordered=plan.fp.reassociate)


class Comparison:
    """A planned kernel and the user's own C, each compiled once, to be run on several inputs."""

    def __init__(
        self,
        plan: Plan,
        source: CSource,
        device: DeviceInfo,
    ) -> None:
        self.plan, self.device = plan, device
        self.reference = Reference(source, plan.written)
        self.allowed = allowed_of(plan, device)

    @cached_property
    def kernel(self) -> CompiledKernel:
        return CompiledKernel(self.plan, self.device)

    def run(
        self,
        sizes: Mapping[str, int | float],
        seed: int,
        *,
        inputs: Mapping[str, Wanted] | None = None,
        repeat: int = 1,
    ) -> RunResult:
        """Runs both on random inputs and compares every array the program writes. The kernel runs
        `repeat` times on fresh copies; the time is the median. Raises UsageError, InputError (no
        compiler), DeviceError."""
        plain = self.plan.plain_names
        given = self.reference.arguments(sizes, seed, inputs)
        expected = self.reference.expected(given)
        times = []
        actual = given
        for _ in range(max(1, repeat)):
            actual = copy.deepcopy(given)
            self.kernel(**{plain.get(n, n): v for n, v in actual.items()})
            times.append(self.kernel.nanoseconds or 0)
        written, found = differences(self.plan, expected, actual, self.allowed)
        compared = numbers(self.plan.written, expected)
        elements = sum(int(np.size(compared[n])) for n in written)
        median = sorted(times)[len(times) // 2]
        return RunResult(elements, written, found, median, self.allowed)


def run(
    plan: Plan,
    source: CSource,
    device: DeviceInfo,
    sizes: Mapping[str, int | float],
    seed: int,
    *,
    inputs: Mapping[str, Wanted] | None = None,
    repeat: int = 1,
) -> RunResult:
    """One run of a `Comparison`."""
    both = Comparison(plan, source, device)
    return both.run(sizes, seed, inputs=inputs, repeat=repeat)


def _differences(name: str, expected: Any, actual: Any, allowed: Tolerance) -> tuple[Mismatch, ...]:
    relative, absolute = allowed.relative(expected), allowed.absolute(expected)
    return compare({name: expected}, {name: actual}, rtol=relative, atol=absolute)


def numbers(fn: Function, args: Mapping[str, Any]) -> dict[str, Any]:
    """`args` with every number in an array of structs for itself: `p[].x`."""
    out = {n: v for n, v in args.items() if n not in {s.name for s in fn.structs}}
    for s in fn.structs:
        if s.name in args:
            found = {path: member(args[s.name], path) for path in leaves(s.type)}
            out |= {f"{s.name}[].{'.'.join(path)}": v for path, v in found.items()}
    return out


def _require_assumptions(fn: Function, args: Mapping[str, Any]) -> None:
    """What the model of the program rests on must hold for these arguments: without it the
    program's arrays might be smaller than what it touches. Raises UsageError."""
    args = with_members(fn, args)
    numbers = (p for p in fn.objects if not p.array)
    values: dict[str, Any] = {
        p.name: int(args[p.name]) if p.type.is_integer else rounded(p.type.numpy, args[p.name])
        for p in numbers
    }
    for e in fn.assumes:
        if evaluate(e, values):
            continue
        given = ", ".join(f"{n}={values[n]}" for n in sorted(names(e)))
        raise UsageError(
            f"{fn.name} is transformed for {expr_text(e)} only; not for {given}",
            code="LX064",
            help=f"give sizes for which {expr_text(e)}",
        )


def _require_inside(fn: Function, args: Mapping[str, Any]) -> None:
    """The program touches nothing beyond the extents its arrays are declared with (C11 6.5.6p8).
    Raises UsageError."""
    args = with_members(fn, args)
    values = {p.name: int(args[p.name]) for p in fn.objects if not p.array and p.type.is_integer}
    for p in fn.objects:
        found = extent(fn, p.name) if p.array else None
        if found is None or not (found.when is None or evaluate(found.when, values)):
            continue
        for n, (upper, size) in enumerate(zip(found.upper, p.shape)):
            if size is None or evaluate(upper, values) <= evaluate(size, values):
                continue
            place = ", ".join(["..."] * n + [str(evaluate(upper, values) - 1)])
            raise UsageError(
                f"with these sizes {fn.name} touches {p.name}[{place}], and {p.name} has "
                f"{evaluate(size, values)} (dimension {n + 1})",
                code="LX064",
                help=f"give sizes for which {expr_text(upper)} <= {expr_text(size)}",
            )
