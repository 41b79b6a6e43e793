"""`loopxform tune explain FILE.c`: what was measured, and why the rest was not."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator

from loopxform.bench.measure import text
from loopxform.cli.tune_rows import asked_of
from loopxform.tune.race import interval
from loopxform.tune.results import Candidate, Result

SHOWN = 10


def main(args: argparse.Namespace) -> int:
    print("\n\n".join("\n".join(_lines(r)) for r in asked_of(args)))
    return 0


def _lines(result: Result) -> Iterator[str]:
    subject = result.subject
    yield f"{subject['function']} on {subject['device']} ({subject['platform']})"
    for data, given in result.datasets.items():
        default = result.defaults.get(data)
        known = "not measured" if default is None else f"{default:.4g} ms"
        yield f"  {text(given)}: the defaults {known}"
    yield f"  {len(result.candidates)} candidates of the recipe {subject['recipe']} have times"
    if result.candidates:
        yield from _table(table(result))
    yield from (f"  {line}" for line in skipped(result))


def table(result: Result) -> list[list[str]]:
    """Titles, and a row for each of the quickest."""
    times = ["ms", "95 %"] * len(result.datasets)
    rows = [_row(result, n, c) for n, c in enumerate(result.candidates[:SHOWN], 1)]
    return [["", *times, "speed", "model", "sizes"], *rows]


def _row(result: Result, number: int, c: Candidate) -> list[str]:
    cells = [str(number)]
    for data in result.datasets:
        low, high = interval(c.runs[data], result.statistic)
        cells += [f"{result.statistic(c.runs[data]):.4g}", f"{low:.4g}-{high:.4g}"]
    sizes = ", ".join(f"{n}={v}" for n, v in c.sizes.items())
    place = "-" if c.place is None else str(c.place)
    return [*cells, f"{1 / c.ratio:.2f}x", place, sizes + ("" if c.raced else " (not raced)")]


def _table(rows: list[list[str]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows)]
    for row in rows:
        cells = (cell.rjust(width) for cell, width in zip(row[:-1], widths))
        yield "  " + "  ".join([*cells, row[-1]])


def skipped(result: Result) -> Iterator[str]:
    """Why others have no time."""
    space = result.space
    if space is not None:
        for limit, count in sorted(space["limits"].items()):
            yield f"{count} not legal: {limit}"
        left = space["legal"] - len({str(r["sizes"]) for r in result.rows if r["sizes"]})
        yield f"{max(0, left)} of {space['legal']} legal ones not measured"
    for status, count in sorted(Counter(result.failures).items()):
        why = next(r["why"] for r in result.rows if r["status"] == status)
        yield f"{count} {status}: {why}"
