"""What was measured, as JSON: the contract of `loopxform bench --json`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from loopxform.bench.measure import Case, Row
from loopxform.runtime.peak import Peak

SCHEMA_VERSION = 1


@dataclass(frozen=True)
class Measured:
    """The rows for one set of sizes. Speed-ups are against the first that was timed."""

    case: Case
    rows: tuple[Row, ...]

    def rate(self, row: Row) -> float | None:
        """GFLOP/s; where the nest has no such operations, GB/s."""
        return row.rate(self.case.work.operations or self.case.work.bytes)

    @property
    def first(self) -> Row | None:
        """The first that was timed."""
        return next((r for r in self.rows if r.milliseconds), None)

    def speedup(self, row: Row) -> float | None:
        if self.first is None or not row.milliseconds or not row.median:
            return None
        return self.first.median / row.median

    @property
    def ok(self) -> bool:
        """Whether nothing was wrong, and something was timed."""
        return not any(r.wrong for r in self.rows) and any(r.milliseconds for r in self.rows)

    @property
    def unit(self) -> str:
        return "GFLOP/s" if self.case.work.operations else "GB/s"

    def roof(self, peak: Peak) -> float | None:
        """The most that the device can reach, in the same unit."""
        intensity = self.case.work.intensity
        if intensity is None:
            return peak.bandwidth
        return peak.at(intensity, self.case.work.type)

    def json(self, peak: Peak | None) -> dict[str, Any]:
        work = self.case.work
        return {
            "sizes": dict(self.case.sizes),
            "verified_at": dict(self.case.checked),
            "operations": work.operations,
            "exact": work.exact,
            "formula": work.formula,
            "type": work.type,
            "bytes": work.bytes,
            "roof": self.roof(peak) if peak else None,
            "rows": [self._row(r) for r in self.rows],
        }

    def _row(self, r: Row) -> dict[str, Any]:
        out: dict[str, Any] = {"name": r.label, "kind": r.kind, "tiles": dict(r.details)}
        out["verified"] = bool(r.milliseconds) and r.kind != "command"
        if not r.milliseconds:
            return {**out, "wrong": r.wrong or None, "refused": r.refused or None}
        return {
            **out,
            "milliseconds": list(r.milliseconds),
            "median": r.median,
            "deviation": r.deviation,
            "gflops": r.rate(self.case.work.operations),
            "bandwidth": r.rate(self.case.work.bytes),
            "speedup": self.speedup(r),
        }


def as_json(about: Mapping[str, Any], measured: Sequence[Measured], peak: Peak | None) -> str:
    """The whole report; `about` says what was measured where."""
    most = None if peak is None else {"bandwidth": peak.bandwidth, "gflops": peak.gflops}
    body = {
        "schema_version": SCHEMA_VERSION,
        **about,
        "peak": most,
        "results": [m.json(peak) for m in measured],
    }
    return json.dumps(body, indent=2) + "\n"
