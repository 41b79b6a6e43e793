"""Running a planned kernel against the user's own C, element by element."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from loopxform.analysis.extent import extent
from loopxform.codegen.plan import KernelPlan
from loopxform.ir.evaluate import evaluate
from loopxform.ir.nodes import Function
from loopxform.runtime.device import DeviceInfo
from loopxform.runtime.kernel import CompiledKernel
from loopxform.verify.compare import Mismatch, compare
from loopxform.verify.cref import CSource, Library
from loopxform.verify.inputs import make_inputs
from loopxform.verify.sizes import checked_sizes

TOLERANCE = {"float32": 1e-4, "float64": 1e-10}
"""Relative; used where the device may contract a*b + c, which the reference does not."""


@dataclass(frozen=True)
class RunResult:
    """What was compared and how long the kernel took (ns on the device)."""

    elements: int
    arrays: tuple[str, ...]
    mismatches: tuple[Mismatch, ...]
    nanoseconds: int | None
    exact: bool

    @property
    def ok(self) -> bool:
        return not self.mismatches


def arguments(fn: Function, sizes: Mapping[str, int | float], seed: int) -> dict[str, Any]:
    """Random arguments. Raises UsageError where a size is missing or cannot be."""
    given = checked_sizes(fn, sizes)
    integers = {n: v for n, v in given.items() if isinstance(v, int)}
    shapes: dict[str, int] = {}
    for p in fn.objects:
        if p.array and p.shape[0] is None:
            found = extent(fn, p.name)
            shapes[p.name] = max(0, evaluate(found.upper[0], integers)) if found else 1
    return make_inputs(fn, given, seed, shapes=shapes)


def run(
    plan: KernelPlan,
    source: CSource,
    device: DeviceInfo,
    sizes: Mapping[str, int | float],
    seed: int,
    *,
    exact: bool,
    repeat: int = 1,
) -> RunResult:
    """Runs both and compares every array the program writes.

    The kernel runs `repeat` times on fresh copies; the time is the median. Raises UsageError,
    InputError (no compiler), DeviceError.
    """
    fn = plan.start
    given = arguments(fn, sizes, seed)
    library = Library(source, [fn])
    library.read_constants(fn.name, given)
    expected = copy.deepcopy(given)
    library.run(fn.name, expected)
    kernel = CompiledKernel(plan, device)
    times = []
    actual = given
    for _ in range(max(1, repeat)):
        actual = copy.deepcopy(given)
        kernel(**actual)
        times.append(kernel.nanoseconds or 0)
    written = tuple(b.param.name for b in plan.buffers if b.written)
    tolerance = 0.0 if exact else max((_tolerance(expected[n]) for n in written), default=0.0)
    found = compare(
        {n: expected[n] for n in written}, {n: actual[n] for n in written}, rtol=tolerance
    )
    elements = sum(int(np.size(expected[n])) for n in written)
    return RunResult(elements, written, found, sorted(times)[len(times) // 2], exact)


def _tolerance(array: Any) -> float:
    return TOLERANCE.get(str(np.asarray(array).dtype), 0.0)
