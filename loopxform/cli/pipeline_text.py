"""`offload --show-plan`: which stages are one kernel, its tile, and what it takes by the model."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from loopxform import __version__
from loopxform.api.offload import OffloadedRoutine
from loopxform.api.splice import OffloadedFile
from loopxform.model.blocks import SIZE
from loopxform.model.predicted import Predicted
from loopxform.offload.pipeline_plan import PipelinePlan, PlannedKernel, total
from loopxform.targets.target import Limits

TITLES = ("", "lines", "form", "tile", "overlap", "bytes", "time")
APART = "nests stay apart: the device runs work-items one by one"


def lines(done: OffloadedFile, limits: Limits) -> Iterator[str]:
    """The plan of every pipeline of a file."""
    found = [*plans(done)]
    for name, plan in found:
        yield f"plan of {name}, for {limits.name}, sizes that are not known {SIZE}"
        yield from _table(plan, limits)
        if limits.warp == 1 and not any(k.tile for k in plan.chosen):
            yield f"  {APART}"
    if not found:
        yield APART if limits.vector else "no nests that may become one kernel follow one another"


def as_json(done: OffloadedFile, limits: Limits) -> str:
    """The same as data."""
    body = {
        "schema_version": 1,
        "version": __version__,
        "file": done.file.name,
        "device": limits.name,
        "unknown_size": SIZE,
        "pipelines": [
            {
                "function": name,
                "chosen": [_row(k, limits) for k in plan.chosen],
                "unfused": [_row(k, limits) for k in plan.apart],
            }
            for name, plan in plans(done)
        ],
    }
    return json.dumps(body, indent=2) + "\n"


def plans(done: OffloadedFile) -> Iterator[tuple[str, PipelinePlan]]:
    """Those of the regions of a file, with the names of their functions."""
    for r in done.regions:
        yield from ((r.region.owner.name, plan) for plan in told(r.done))


def told(done: OffloadedRoutine) -> Iterator[PipelinePlan]:
    """The plans that there is something to tell of."""
    for plan in done.pipelines:
        if len(plan.apart) > 1 or any(k.tile for k in plan.chosen):
            yield plan


def _row(k: PlannedKernel, limits: Limits) -> dict[str, Any]:
    p = k.predicted
    return {
        "lines": list(k.lines),
        "form": k.form,
        "tile": _tile(k) or None,
        "overlap": None if p is None else p.overlap,
        "bytes": None if p is None else round(p.bytes),
        "multiply_adds": None if p is None else round(p.time),
        "milliseconds": None if p is None else milliseconds(p, limits),
    }


def _table(plan: PipelinePlan, limits: Limits) -> Iterator[str]:
    rows = [TITLES, *table(plan, limits)]
    widths = [max(len(r[n]) for r in rows) for n in range(len(TITLES))]
    for row in rows:
        yield "  ".join(("", *(c.ljust(w) for c, w in zip(row, widths)))).rstrip()


def table(plan: PipelinePlan, limits: Limits) -> list[tuple[str, ...]]:
    """A row of TITLES for each kernel, as they are chosen and as the nests are."""
    rows = list[tuple[str, ...]]()
    for title, kernels in (("chosen", plan.chosen), ("unfused", plan.apart)):
        found = [_cells(k, limits) for k in kernels]
        if len(kernels) > 1:
            found.append(("all", "", "", *_amounts(total(kernels), limits)))
        titles = (title, *[""] * len(found))
        rows += [(t, *cells) for t, cells in zip(titles, found)]
    return rows


def _cells(k: PlannedKernel, limits: Limits) -> tuple[str, ...]:
    where = ", ".join(map(str, k.lines))
    return where, k.form, _tile(k), *_amounts(k.predicted, limits)


def _tile(k: PlannedKernel) -> str:
    return "" if k.tile is None else k.tile.option


def _amounts(p: Predicted | None, limits: Limits) -> tuple[str, str, str]:
    if p is None:
        return "-", "-", "-"
    time = milliseconds(p, limits)
    shown = f"{p.time / 1e6:.4g} M multiply-adds" if time is None else f"{time:.4g} ms"
    return f"{p.overlap:.2f}", f"{p.bytes / 1e6:.4g} MB", shown


def milliseconds(p: Predicted, limits: Limits) -> float | None:
    """None where the rates of the device are not known."""
    return p.time * 2 / limits.peak / 1e6 if limits.peak else None
