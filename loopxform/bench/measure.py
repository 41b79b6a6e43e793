"""Verifying and timing: every result is compared with the user's own C before anything is timed.

Where the C would take too long for the sizes that are timed, results are compared with it for
smaller ones, and for the sizes themselves with the first variant that was right there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import median, pstdev
from typing import Any, Literal, Protocol

from loopxform.bench.work import Work, accesses, work_of
from loopxform.codegen.plan import Plan
from loopxform.errors import (
    ArgumentError,
    DeviceError,
    EmitError,
    LimitError,
    LoopxformError,
    TransformError,
    UnsupportedC,
)
from loopxform.tiled import TiledRoutine
from loopxform.verify.check_run import Reference, differences
from loopxform.verify.tolerance import Tolerance
from loopxform.verify.values import Wanted

Sizes = Mapping[str, int | float]
Kind = Literal["variant", "library", "command"]
REFUSALS = (UnsupportedC, TransformError, LimitError, EmitError, DeviceError, ArgumentError)
"""What may keep a variant from being timed, and leaves the others be."""

LONGEST = 1_000_000_000
"""Accesses to arrays that the C is given the time for: some seconds."""


class Contestant(Protocol):
    """What computes the same as the user's program, on a device."""

    @property
    def label(self) -> str: ...

    @property
    def kind(self) -> Kind: ...

    @property
    def allowed(self) -> Tolerance: ...

    @property
    def details(self) -> Mapping[str, int]: ...

    def result(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments after one launch. Raises DeviceError."""
        ...

    def times(self, given: Mapping[str, Any], launches: int) -> list[int]:
        """Nanoseconds of each launch on the device. Raises DeviceError."""
        ...


@dataclass(frozen=True)
class Row:
    """What was found of one contestant: `milliseconds` of the timed launches, or why there are none
    (`wrong`: an element that differs; `refused`)."""

    label: str
    kind: Kind
    milliseconds: tuple[float, ...] = ()
    details: Mapping[str, int] = field(default_factory=dict)
    wrong: str = ""
    refused: str = ""

    @property
    def median(self) -> float:
        return median(self.milliseconds)

    @property
    def deviation(self) -> float:
        """The standard deviation over the mean."""
        mean = sum(self.milliseconds) / len(self.milliseconds)
        return pstdev(self.milliseconds) / mean if mean else 0.0

    def rate(self, amount: int | None) -> float | None:
        """Billions of operations, or of bytes, in a second."""
        return amount / self.median / 1e6 if amount and self.milliseconds and self.median else None


@dataclass
class Case:
    """One set of sizes: the arguments, what is right for the sizes `checked`, and for the sizes
    themselves (None until a variant that was right for smaller ones has computed it)."""

    sizes: Sizes
    checked: Sizes
    work: Work
    given: dict[str, Any]
    smaller: tuple[dict[str, Any], dict[str, Any]] | None
    right: dict[str, Any] | None
    first: str = ""
    """The variant that the others are compared with at the sizes themselves."""


@dataclass(frozen=True)
class Bench:
    """How a nest is timed. `base` is its naive kernel, and `plan` the plan of that; kernels may
    differ from the C by what is `allowed`."""

    base: TiledRoutine
    plan: Plan
    reference: Reference
    allowed: Tolerance
    seed: int
    inputs: Mapping[str, Wanted]
    warmup: int
    repeat: int

    def case(self, sizes: Sizes) -> Case:
        """Draws the arguments and runs the C on them, or on smaller ones. Raises UsageError,
        InputError."""
        given = self._arguments(sizes)
        work = work_of(self.plan, given)
        for checked in self._shrunk(sizes):
            try:
                small = self._arguments(checked)
            except LoopxformError:
                continue
            return Case(sizes, checked, work, given, (small, self.reference.expected(small)), None)
        return Case(sizes, sizes, work, given, None, self.reference.expected(given))

    def row(self, case: Case, c: Contestant) -> Row:
        """Verifies and times one contestant."""
        try:
            wrong = self._wrong(case, c)
            if wrong:
                return Row(c.label, c.kind, details=c.details, wrong=wrong)
            taken = c.times(case.given, self.warmup + self.repeat)[self.warmup :]
        except REFUSALS as e:
            return Row(c.label, c.kind, refused=e.message)
        return Row(c.label, c.kind, tuple(t / 1e6 for t in taken), c.details)

    def _wrong(self, case: Case, c: Contestant) -> str:
        """The first element that differs, if any."""
        if case.smaller is not None:
            given, expected = case.smaller
            if found := self._differs(expected, c.result(given), c.allowed):
                return f"{found} ({text(case.checked)})"
        result = c.result(case.given)
        if case.right is None:
            case.right, case.first = result, c.label
            return ""
        return self._differs(case.right, result, c.allowed)

    def _differs(
        self, expected: Mapping[str, Any], actual: Mapping[str, Any], allowed: Tolerance
    ) -> str:
        _, found = differences(self.plan, expected, actual, allowed)
        return str(found[0]) if found else ""

    def _arguments(self, sizes: Sizes) -> dict[str, Any]:
        return self.reference.arguments(sizes, self.seed, self.inputs)

    def _shrunk(self, sizes: Sizes) -> list[Sizes]:
        """Smaller sizes for which the C does not take too long; none where it does not for these,
        or where how long is not known."""
        now, cost = dict(sizes), self._cost(sizes)
        if cost is None or cost <= LONGEST:
            return []
        while cost > LONGEST:
            halved = [(v, n, self._cost({**now, n: _half(v)})) for n, v in now.items()]
            cheaper = [(v, n, c) for v, n, c in halved if c is not None and c < cost]
            if not cheaper:
                return []
            value, name, cost = max(cheaper)
            now[name] = _half(value)
        return [now]

    def _cost(self, sizes: Sizes) -> int | None:
        return accesses(self.base.derivation, sizes)


def _half(value: int | float) -> int | float:
    """Of a whole number, rounded up."""
    return (value + 1) // 2 if isinstance(value, int) else value


def text(sizes: Sizes) -> str:
    """`M=512, N=1024`."""
    return ", ".join(f"{n}={v}" for n, v in sizes.items()) or "no sizes"
