"""The one model of costs: what a nest takes on a device is a sum of terms.

    term           amount                                       what one of them takes
    global memory  segments that warps ask for (`coalescing`)   segment / (cached * bandwidth)
    copies         segments of arrays in another layout         segment / bandwidth
    local memory   words that work-items read from tiles        2 * local_read / peak
    arithmetic     operations on floats (`operations`)          1 / peak
    quotients (by constants apart), square roots,
    functions of floats                                         so many operations (`Costs`)
    waves          groups that idle compute units could run     (arithmetic + local memory) / groups
    launches       kernels                                      launch

The rates are those of the profile (`Limits`, `Costs`). The unit of time is that of a segment which
caches serve; where the profile knows the bandwidth, that is so many microseconds. Where the rates
are not known, a byte from memory takes as long as `balance` operations. Terms add up as if nothing
overlapped: sums compare ways to map a nest, they predict no time.

What a nest asks global memory for decides between layouts, and between loops for neighbours; the
time of waves of tiles decides between shapes of tiles (`waves`), and the bytes of a copy, against
the arithmetic that it saves, from how many iterations on operands are packed.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import prod

from loopxform.floating_point import CONTRACT, FloatingPoint
from loopxform.ir.memo import remembered
from loopxform.ir.nodes import Function
from loopxform.ir.typing import symbols
from loopxform.ir.visit import Path, at
from loopxform.model.access_counts import Term as Counted
from loopxform.model.coalescing import NOMINAL, Estimate
from loopxform.model.operations import Special, operations, special
from loopxform.records import record
from loopxform.targets.target import Limits

WORD = 4
"""Bytes of a word of local memory."""


@record
class Term:
    """So many of something, the time that one of them takes, and the formula of that."""

    name: str
    amount: Fraction
    unit: str
    each: Fraction
    formula: str

    @property
    def time(self) -> Fraction:
        """In segments that caches serve."""
        return self.amount * self.each


@record
class Cost:
    """The terms of a nest that is mapped in one way."""

    terms: tuple[Term, ...]

    @property
    def time(self) -> Fraction:
        """The sum of the terms, in segments that caches serve."""
        return sum((t.time for t in self.terms), Fraction(0))

    @property
    def work(self) -> Fraction:
        """Without what it takes to launch kernels and to fill the device."""
        own = (t.time for t in self.terms if t.name not in ("waves", "launches"))
        return sum(own, Fraction(0))

    def __getitem__(self, name: str) -> Fraction:
        """The time of a term, 0 where there is none of that name."""
        return sum((t.time for t in self.terms if t.name == name), Fraction(0))


# ---------------------------------------------------------------- rates


def balance(limits: Limits) -> float:
    """Operations on floats in the time that memory takes for a byte."""
    if limits.peak and limits.bandwidth:
        return limits.peak / limits.bandwidth
    return limits.costs.balance


def microseconds(limits: Limits) -> float | None:
    """What a segment takes that caches serve; None where the profile knows no bandwidth."""
    if not limits.bandwidth:
        return None
    return limits.costs.segment / (1e3 * limits.costs.cached * limits.bandwidth)


def _operation(limits: Limits) -> Fraction:
    """An operation on floats: a byte from memory takes as long as `balance` of them."""
    costs = limits.costs
    return Fraction(costs.cached) / (costs.segment * Fraction(balance(limits)))


def packing(limits: Limits) -> int:
    """From how many iterations on that an element serves it is copied into rows of vectors; 0 for
    never."""
    return _threshold(limits.pack, limits, limits.costs.packed_gain)


def operand_packing(limits: Limits) -> int:
    """The same for copies in the layout of the tiles that the device fills on its own."""
    return _threshold(limits.pack_operands, limits, limits.costs.packed_gain)


def transposition(limits: Limits) -> int:
    """The same where rows are vectors already, but lie across those of the tile."""
    return _threshold(limits.transpose_operands, limits, limits.costs.turned_gain)


def _threshold(measured: int | None, limits: Limits, gain: float) -> int:
    """A word is read and written, 8 bytes; in each iteration that it serves, `gain` of a multiply
    and an add is saved: 8 * balance <= gain * 2 * iterations."""
    return round(WORD * balance(limits) / gain) if measured is None else measured


def copy_work(limits: Limits, bytes: int) -> float:
    """Multiply-adds in the time that a copy of an element of so many bytes takes, read once and
    written once; less than a word takes as long as one."""
    return max(limits.costs.word, bytes) * balance(limits)


def launch_work(limits: Limits) -> float:
    """Multiply-adds in the time that a launch takes; 0 where the profile does not know it."""
    return limits.costs.launch * limits.peak * 1e3 / 2


def start_work(limits: Limits) -> float:
    """Multiply-adds in the time that a kernel takes besides what it does."""
    return limits.costs.start * limits.peak * 1e3 / 2


# ---------------------------------------------------------------- terms


def global_memory(e: Estimate) -> Term:
    """Segments of all arrays."""
    formula = f"{e.limits.costs.segment} bytes / ({e.limits.costs.cached} x bandwidth)"
    return Term("global memory", Fraction(e.total), "segments", Fraction(1), formula)


def array_memory(e: Estimate, array: str) -> Term:
    """Segments of one array."""
    term = global_memory(e)
    return Term(term.name, Fraction(e.counts[array]), term.unit, term.each, term.formula)


def copy(e: Estimate, array: str) -> Term:
    """A copy of an array in another layout, which no cache serves. Elements of less than a word
    take as long as words: a work-item moves one of them at a time."""
    costs = e.limits.costs
    narrow = max(1, costs.word // symbols(e.nest.function)[array].bytes)
    formula = f"{costs.segment} bytes / bandwidth"
    amount = Fraction(narrow * e.copied(array))
    return Term("copies", amount, "segments", Fraction(costs.cached), formula)


def worth(before: Term, after: Term, copies: tuple[Term, ...], limits: Limits) -> bool:
    """Whether a nest is clearly better off with copies: so many times faster as makes up for
    further kernels and arrays."""
    copying = sum((t.time for t in copies), Fraction(0))
    return before.time >= Fraction(limits.costs.copy_pays) * (after.time + copying)


def local_memory(e: Estimate) -> Term:
    """Words that work-items read from tiles: each use of an element, but those of neighbouring
    elements of a work-item that has it in a register."""
    words = Fraction(0)
    for s in e.staged:
        shared = (d.kept for d in e.choice.dims if s.private and d.items and d.loop in s.stage.kept)
        uses = s.stage.reuse(e.sizes) * s.stage.box.elements(e.sizes)
        bytes = round(uses) * s.stage.item_bytes * e.boxes(s.stage)
        words += Fraction(bytes, WORD * prod(e.sizes[n] for n in shared))
    each = 2 * Fraction(e.limits.costs.local_read) * _operation(e.limits)
    return Term("local memory", words, "words", each, f"{2 * e.limits.costs.local_read:g} / peak")


class _Nominal(dict[str, int]):
    """What sizes are taken as, and averages of loops that depend on data."""

    def __missing__(self, name: str) -> int:
        return NOMINAL if name.isidentifier() else NOMINAL // 2


def arithmetic(e: Estimate, fp: FloatingPoint = CONTRACT) -> tuple[Term, ...]:
    """Operations on floats of the nest, those that take longer apart; none are known where it calls
    functions of the file. `fp` says how quotients and square roots are rounded."""
    costs, one = e.limits.costs, _operation(e.limits)
    every, slow = _operations(e.nest.function, e.nest.path)
    native = fp.approximate
    weights: dict[Special, float] = {
        "quotients": costs.native_quotient if native else costs.quotient,
        "quotients by constants": 1 if native else costs.quotient_by_constant,
        "square roots": costs.native_square_root if native else costs.square_root,
        "functions": costs.function,
    }
    rest = max(Fraction(0), every - sum(slow.values()))
    plain = Term("arithmetic", rest, "operations", one, "1 / peak")
    slower = (
        Term(kind, count, kind, Fraction(weights[kind]) * one, f"{weights[kind]:g} / peak")
        for kind, count in slow.items()
    )
    return (plain, *slower)


@remembered(64)
def _operations(fn: Function, path: Path) -> tuple[Fraction, Mapping[Special, Fraction]]:
    """How many there are in a part, and how many of them take longer."""
    body = (at(fn, path),)
    counted = operations(fn, body)
    every = _counted(counted.terms) if counted else Fraction(0)
    return every, {kind: _counted(terms) for kind, terms in special(fn, body).items()}


def _counted(terms: tuple[Counted, ...]) -> Fraction:
    return max(Fraction(0), sum((t.count.value(_Nominal()) for t in terms), Fraction(0)))


def waves(e: Estimate, work: Fraction) -> Term:
    """What compute units could do while the last wave of groups leaves them without work, and while
    the first one starts; `work` is the time of all groups on all units, which run one at a time."""
    units, formula = e.limits.compute_units, "(arithmetic + local memory) / groups"
    idle = -e.groups % units + Fraction(e.limits.costs.fill) * units
    return Term("waves", idle, "idle groups", work / e.groups, formula)


def cost(
    e: Estimate, copied: Mapping[str, Estimate] | None = None, fp: FloatingPoint = CONTRACT
) -> Cost:
    """All terms of a nest; `copied` are the arrays that are read from a copy, with the nest that
    reads them as they were."""
    limits = e.limits
    terms = [global_memory(e), *(copy(x, a) for a, x in (copied or {}).items())]
    work = [local_memory(e), *arithmetic(e, fp)]
    terms += work
    if limits.compute_units and e.groups:
        terms.append(waves(e, sum((t.time for t in work), Fraction(0))))
    scale = microseconds(limits)
    if limits.costs.launch and scale:
        kernels = Fraction(1 + len(copied or {}))
        each = Fraction(limits.costs.launch / scale)
        terms.append(Term("launches", kernels, "kernels", each, f"{limits.costs.launch:g} us"))
    return Cost(tuple(terms))


# ---------------------------------------------------------------- tiles


def tile_work(sizes: Mapping[str, int], limits: Limits) -> float:
    """What a register tile takes in an iteration of the sequential loop, in multiply-adds of a
    work-item: an element takes one, and a part of two reads of local memory, which serve a row and
    a column of elements that the work-item keeps."""
    elements = sizes["Ty"] * sizes["Tx"] * sizes["Ry"] * sizes["Rx"]
    return elements * (1 + limits.costs.local_read * (1 / sizes["Ry"] + 1 / sizes["Rx"]))


def epilogue_work(sizes: Mapping[str, int], limits: Limits) -> float:
    """What writing the results of a register tile takes, in the same unit: a word each, from a
    device whose arithmetic waits for `balance` operations a byte."""
    elements = sizes["Ty"] * sizes["Tx"] * sizes["Ry"] * sizes["Rx"]
    return elements * WORD * balance(limits) / 2


def worthwhile_iterations(limits: Limits) -> int:
    """From how many iterations of the sequential loop on copies of operands pay where each element
    serves just as many as it must: what they save makes up for two launches. 0 where operands are
    never copied."""
    costs, served = limits.costs, operand_packing(limits)
    if not served:
        return 0
    if not (costs.launch and limits.peak):
        return costs.copied_iterations
    saved = 2 * served**2 * costs.packed_gain / (1e3 * limits.peak)
    return round(2 * costs.launch / saved)
