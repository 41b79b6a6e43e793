"""Scans that can be computed in chunks: whatever `analysis.running` finds is one, by the name that
its operator has, also where it is none to the rest of this package.

    out[i] = s; s = a[i];        what each iteration sets, and the next one reads
"""

from __future__ import annotations

from loopxform.analysis.idioms.flow import Flow
from loopxform.analysis.idioms.record import LAST, Idiom
from loopxform.analysis.idioms.scans import reads_of
from loopxform.analysis.running import Scan, scan_of
from loopxform.analysis.scope import order
from loopxform.ir.nodes import For, If
from loopxform.ir.visit import at


def scan_in_chunks(flow: Flow, name: str) -> Idiom | None:
    """The scan of a variable that can be computed in chunks; None where it cannot."""
    if not isinstance(flow.loop, For):
        return None
    found = scan_of(flow.fn, flow.path)
    values = found.values if isinstance(found, Scan) else ()
    value = next((v for v in values if v.var == name), None)
    if value is None:
        return None
    places = [u.path for u in value.updates]
    inside = [(*p, 0) for p in places if isinstance(at(flow.fn, p), If)]
    paths = tuple(sorted((*places, *inside), key=order))
    reads = reads_of(flow, name, frozenset(paths))
    if not value.op and not reads:
        return None
    segmented = bool(value.op) and value.restarts
    return Idiom("scan", name, value.op or LAST, reads, segmented=segmented, paths=paths)
