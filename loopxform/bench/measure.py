"""Verifying and timing: every result is compared with the user's own C before anything is timed.

Where the C would take too long for the sizes that are timed, results are compared with it for
smaller ones, and for the sizes themselves with the naive kernel.
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
from loopxform.transforms import Derivation
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


@dataclass(frozen=True)
class Case:
    """One set of sizes: the arguments and what is `right`; where only the naive kernel says that,
    `smaller` are arguments for the sizes `checked`, and what the C makes of them."""

    sizes: Sizes
    checked: Sizes
    work: Work
    given: Mapping[str, Any]
    right: Mapping[str, Any]
    smaller: tuple[Mapping[str, Any], Mapping[str, Any]] | None = None


@dataclass(frozen=True)
class Bench:
    """How a nest is timed. `base` is its naive kernel, of this `plan` and `derivation`. Variants
    are made for the sizes that are `fixed`."""

    base: Contestant
    plan: Plan
    derivation: Derivation
    reference: Reference
    seed: int
    inputs: Mapping[str, Wanted]
    warmup: int
    repeat: int
    fixed: tuple[tuple[str, int], ...] = ()

    def case(self, sizes: Sizes) -> Case:
        """Draws the arguments and runs the C on them, or on smaller ones. Raises UsageError,
        InputError; DeviceError where the naive kernel cannot be run."""
        given = self._arguments(sizes)
        work = work_of(self.plan, given)
        checked = self._smaller(sizes)
        if checked is None:
            return Case(sizes, sizes, work, given, self.reference.expected(given))
        small = self._arguments(checked)
        smaller = small, self.reference.expected(small)
        return Case(sizes, checked, work, given, self.base.result(given), smaller)

    def row(self, case: Case, c: Contestant, *, verified: bool = False) -> Row:
        """Verifies one contestant, unless it was `verified` for this case before, and times it."""
        try:
            wrong = "" if verified else self.wrong(case, c)
            if wrong:
                return Row(c.label, c.kind, details=c.details, wrong=wrong)
            taken = c.times(case.given, self.warmup + self.repeat)[self.warmup :]
        except REFUSALS as e:
            return Row(c.label, c.kind, refused=e.message)
        return Row(c.label, c.kind, tuple(t / 1e6 for t in taken), c.details)

    def wrong(self, case: Case, c: Contestant) -> str:
        """The first element that differs, if any. What is made for other sizes than those that the
        C ran for is compared with the naive kernel, and that with the C. Raises DeviceError."""
        if case.smaller is not None:
            given, expected = case.smaller
            fits = all(case.checked.get(n, v) == v for n, v in self.fixed)
            first = c if fits else self.base
            if found := self._differs(expected, first.result(given), first.allowed):
                return f"{found} ({text(case.checked)})"
        return self._differs(case.right, c.result(case.given), c.allowed)

    def _differs(
        self, expected: Mapping[str, Any], actual: Mapping[str, Any], allowed: Tolerance
    ) -> str:
        _, found = differences(self.plan, expected, actual, allowed)
        return str(found[0]) if found else ""

    def _arguments(self, sizes: Sizes) -> dict[str, Any]:
        return self.reference.arguments(sizes, self.seed, self.inputs)

    def _smaller(self, sizes: Sizes) -> Sizes | None:
        """Sizes for which the C does not take too long; None where it does not for these, where how
        long is not known, or where smaller ones are no sizes of the program."""
        now, cost = dict(sizes), self._cost(sizes)
        if cost is None or cost <= LONGEST:
            return None
        while cost > LONGEST:
            halved = [(v, n, self._cost({**now, n: _half(v)})) for n, v in now.items()]
            cheaper = [(v, n, c) for v, n, c in halved if c is not None and c < cost]
            if not cheaper:
                return None
            value, name, cost = max(cheaper)
            now[name] = _half(value)
        try:
            self._arguments(now)
        except LoopxformError:
            return None
        return now

    def _cost(self, sizes: Sizes) -> int | None:
        return accesses(self.derivation, sizes)


def _half(value: int | float) -> int | float:
    """Of a whole number, rounded up."""
    return (value + 1) // 2 if isinstance(value, int) else value


def text(sizes: Sizes) -> str:
    """`M=512, N=1024`."""
    return ", ".join(f"{n}={v}" for n, v in sizes.items()) or "no sizes"
