"""What tuning measured: the quickest sizes, and why others have no time."""

from __future__ import annotations

from loopxform.api.tuning import TuningResult
from loopxform.cli.tune_explain import skipped, table
from loopxform.report.facts import Table
from loopxform.report.notebook.piece import piece


def html(x: TuningResult) -> str:
    result = x.result
    head, *rows = table(result)
    head[0] = "place"
    count = len(result.candidates)
    title = f"{count} candidate{'' if count == 1 else 's'} with times, the quickest first"
    quickest = Table(title, tuple(head), tuple(map(tuple, rows)))
    return piece(
        f"Tuning of {x.function}",
        "tuning.html.j2",
        x=x,
        table=quickest,
        skipped=[*skipped(result)],
    )
