"""What the model of costs says of a nest: its time, against one work-item for each iteration, the
terms of the sum, the other candidates, the traffic before and after, and where it stands under the
roofline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from loopxform.cli.transactions_text import short, transactions
from loopxform.floating_point import FloatingPoint
from loopxform.model import access_counts
from loopxform.model.coalescing import NOMINAL
from loopxform.model.cost import Cost, balance, microseconds
from loopxform.recipes.candidates import Candidate, candidates
from loopxform.recipes.tiled import Tiled
from loopxform.records import record
from loopxform.report.facts import Table
from loopxform.report.roofline import Point, Roof, drawn
from loopxform.targets.target import Limits
from loopxform.transforms import Derivation

FLOATS = ("arithmetic", "quotients", "square roots", "functions")
"""Terms of operations on floats."""


@record
class Costs:
    """Of one nest: the candidates, that which was taken first."""

    tiled: Tiled
    limits: Limits
    every: tuple[Candidate, ...]

    @classmethod
    def of(cls, tiled: Tiled, limits: Limits, fp: FloatingPoint) -> Costs:
        return cls(tiled, limits, candidates(tiled, limits, fp))

    @property
    def taken(self) -> Cost | None:
        return self.every[0].cost if self.every else None

    @property
    def naive(self) -> Cost | None:
        """With one work-item for each iteration."""
        return next((c.cost for c in self.every if c.name == "naive"), None)

    @property
    def time(self) -> str:
        """The predicted time; nothing where the profile knows no rates."""
        return "" if self.taken is None else time_text(self.taken.time, self.limits)

    @property
    def gain(self) -> str:
        """How many times sooner than the naive kernel."""
        if self.taken is None or self.naive is None or not self.taken.time:
            return ""
        ratio = float(self.naive.time / self.taken.time)
        if ratio < WORTH_TELLING:
            return ""
        return f"{ratio:.3g} times the speed of one work-item for each iteration, by the model"

    def tables(self) -> tuple[Table, ...]:
        """The terms of the sum, and the candidates; none where the model knows nothing."""
        if self.taken is None:
            return ()
        unit = "segments from caches" if microseconds(self.limits) is None else "µs"
        terms = tuple(
            (t.name, f"{short(t.amount)} {t.unit}", t.formula, _number(t.time, self.limits))
            for t in self.taken.terms
        )
        note = f"Sizes that are not known are taken as {NOMINAL}. Sums compare ways to map a nest."
        others = tuple(
            (c.name, _number(c.cost.time, self.limits) if c.cost else "-", c.why)
            for c in self.every
        )
        return (
            Table("Cost by the model", ("term", "amount", "each takes", unit), terms, (note,)),
            Table("Candidates", ("recipe", unit, "why"), others),
        )

    def roofline(self, name: str) -> str:
        """The picture; nothing where no operations on floats are known."""
        now = _point(self.tiled.recipe, self.taken, self.limits)
        plain = _point("one item each", self.naive, self.limits)
        if now is None:
            return ""
        is_other = plain is not None and self.tiled.recipe != "naive"
        points = [p for p in (plain, now) if p is not None] if is_other else [now]
        return drawn(name, points, _roof(self.limits))


WORTH_TELLING = 1.05
"""Ratios below are within what the model leaves out."""


def time_text(time: Fraction, limits: Limits) -> str:
    """`139 µs`, `1.2 ms`; nothing where the profile knows no bandwidth."""
    scale = microseconds(limits)
    if scale is None:
        return ""
    return duration(float(time) * scale)


def duration(us: float) -> str:
    """Microseconds in the unit that suits."""
    for unit, size in (("s", 1e6), ("ms", 1e3)):
        if us >= size:
            return f"{us / size:.3g} {unit}"
    return f"{us:.3g} µs"


def _number(time: Fraction, limits: Limits) -> str:
    scale = microseconds(limits)
    return short(time) if scale is None else f"{float(time) * scale:.4g}"


def _point(title: str, c: Cost | None, limits: Limits) -> Point | None:
    """Operations for a byte that is asked for, and the share of the peak that the model gives."""
    if c is None or not c.time:
        return None
    terms = [t for t in c.terms if t.name in FLOATS]
    operations = sum((t.amount for t in terms), Fraction(0))
    ideal = sum((t.amount * terms[0].each for t in terms), Fraction(0)) if terms else Fraction(0)
    segments = sum((t.amount for t in c.terms if t.unit == "segments"), Fraction(0))
    if not operations or not segments:
        return None
    intensity = float(operations / (segments * limits.costs.segment))
    return Point(title, intensity, float(ideal / c.time))


def _roof(limits: Limits) -> Roof:
    return Roof(limits.name, limits.peak, limits.bandwidth, balance(limits), limits.costs.cached)


# ---------------------------------------------------------------- traffic


def accesses(derivation: Derivation) -> Table:
    """Table 3 of the thesis for a program: accesses before and after, as formulas."""
    plain, tiled = access_counts.naive(derivation), access_counts.tiled(derivation)
    rows = tuple(
        (name, access_counts.text(before), access_counts.text(after))
        for (name, before), (_, after) in zip(plain.rows(), tiled.rows())
    )
    averages = dict.fromkeys((*access_counts.averages(plain), *access_counts.averages(tiled)))
    notes = ["Formulas hold where the tile sizes divide the loops."]
    notes += [f"{name} is how often that loop runs, on average." for name in averages]
    return Table("Accesses", ("memory", "one item each", "as mapped"), rows, tuple(notes))


def moved(tiled: Tiled, limits: Limits) -> tuple[Table, ...]:
    """Transactions of each array before and after; none where nothing changes."""
    before, after = transactions(tiled, limits)
    if before == after or limits.warp == 1:
        return ()
    arrays = [*before, *(a for a in after if a not in before)]
    rows = [_transactions(a, before, after) for a in arrays]
    if len(arrays) > 1:
        totals = ({"all": sum(counts.values())} for counts in (before, after))
        rows.append(_transactions("all", *totals))
    note = f"{limits.costs.segment} bytes each; sizes that are not known are taken as {NOMINAL}."
    head = ("array", "one item each", "as mapped")
    return (Table("Transactions of global memory", head, tuple(rows), (note,)),)


def _transactions(
    array: str, before: Mapping[str, int], after: Mapping[str, int]
) -> tuple[str, ...]:
    return array, short(before.get(array, 0)), short(after.get(array, 0))


def reused(rows: Sequence[tuple[str, ...]]) -> Table:
    """Which data is used again, and where it is kept."""
    return Table("Data", ("access", "varies with", "invariant to", "reuse", "kept in"), tuple(rows))
