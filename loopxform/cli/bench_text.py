"""What `bench` prints: a table for each set of sizes."""

from __future__ import annotations

from collections.abc import Iterator

from loopxform.bench.measure import Bench, Case, Row, text
from loopxform.bench.report import Measured
from loopxform.runtime.device import DeviceInfo
from loopxform.runtime.peak import Peak
from loopxform.verify.tolerance import Tolerance

PREFIXES = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


def head(name: str, device: DeviceInfo, bench: Bench, peak: Peak | None) -> Iterator[str]:
    """What is timed where, and how."""
    yield f"{name} on {device}"
    yield f"  inputs        random from seed {bench.seed}"
    clock = "the clock" if device.is_c else "OpenCL events"
    yield f"  launches      {bench.repeat} timed after {bench.warmup}, by {clock}"
    if peak:
        rates = ", ".join(f"{rate:.1f} GFLOP/s in {type}" for type, rate in peak.gflops.items())
        yield f"  roof          {peak.bandwidth:.1f} GB/s, {rates}"


def lines(m: Measured, allowed: Tolerance, peak: Peak | None) -> Iterator[str]:
    """The table for one set of sizes."""
    yield f"{text(m.case.sizes)}: {_work(m.case)}"
    yield f"  compared      {_compared(m.case, allowed)}"
    width = max(8, *(len(r.label) for r in m.rows))
    heads = (
        f"{'median ms':>10} {'least':>10} {'most':>10} {'GFLOP/s':>9} {'GB/s':>8} {'speed-up':>8}"
    )
    yield f"  {'':<{width}} {heads}{' of roof' if peak else ''}"
    for r in m.rows:
        yield f"  {r.label:<{width}} {_row(m, r, peak)}".rstrip()


def _row(m: Measured, r: Row, peak: Peak | None) -> str:
    if r.wrong:
        return f"DIFFERENT  {r.wrong}"
    if r.refused:
        return f"not timed: {r.refused}"
    work = m.case.work
    rates = f"{_cell(r.rate(work.operations), 9, '.1f')} {_cell(r.rate(work.bytes), 8, '.1f')}"
    times = " ".join(f"{t:10.4f}" for t in (r.median, min(r.milliseconds), max(r.milliseconds)))
    cells = f"{times} {rates} {_cell(m.speedup(r), 8, '.2f')}"
    if peak:
        rate, roof = m.rate(r), m.roof(peak)
        cells += f" {_cell(rate / roof if rate and roof else None, 7, '.0%')}"
    return f"{cells}  {_note(r)}"


def _note(r: Row) -> str:
    if r.kind == "command":
        return "times itself, not verified"
    return " ".join(f"{n}={v}" for n, v in r.details.items())


def _cell(value: float | None, width: int, form: str) -> str:
    return f"{'-' if value is None else format(value, form):>{width}}"


def _work(case: Case) -> str:
    work = case.work
    moved = f"{_short(work.bytes)} bytes to move"
    if work.operations is None:
        return f"operations depend on data, {moved}"
    most = "" if work.exact or not work.operations else "at most "
    formula = work.formula.removeprefix("at most ")
    done = f"{formula} = {most}{_short(work.operations)} operations on {work.type}, {moved}"
    if not work.operations:
        return f"no floating-point operations, {moved}"
    return done if work.intensity is None else f"{done}, {work.intensity:.3g} for each byte"


def _compared(case: Case, allowed: Tolerance) -> str:
    how = "bit by bit" if allowed.exact else f"within the tolerance for {allowed.why}"
    if case.smaller is None:
        return f"with your C, {how}"
    place = f"at {text(case.checked)} (here it would take too long)"
    return f"with your C {place}, {how}; here with the naive kernel"


def _short(number: int) -> str:
    """`137.4 G`."""
    for size, prefix in PREFIXES:
        if number >= size:
            return f"{number / size:.4g} {prefix}"
    return str(number)
