"""Pictures of what was measured: bars, as in the thesis, and a roofline. The home of matplotlib."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from loopxform.bench.report import Measured
from loopxform.errors import InputError, UsageError
from loopxform.runtime.peak import Peak

FORMATS = ("png", "svg")
INSTALL = 'pip install "loopxform[plot]" brings it'


def format_of(file: str) -> str:
    """The format that the name of a picture asks for."""
    return Path(file).suffix.lower().removeprefix(".")


def require(option: str, file: str) -> None:
    """A picture must have a format that is known, and matplotlib to draw it. Raises UsageError,
    InputError."""
    if format_of(file) not in FORMATS:
        help = f"give a name that ends in .{' or .'.join(FORMATS)}"
        raise UsageError(f"'{file}' is no picture", code="LX023", help=help, subject=option)
    try:
        _figure(1.0)
    except ImportError as e:
        message = f"{option} needs matplotlib, which cannot be imported: {e}"
        raise InputError(message, code="LX069", help=INSTALL, subject=option) from e


def bars(title: str, measured: Sequence[Measured], format: str) -> bytes:
    """A set of bars for each set of sizes, the speed-up against the first above each other bar."""
    labels = list(dict.fromkeys(r.label for m in measured for r in m.rows if r.milliseconds))
    width = 0.8 / max(1, len(labels))
    figure, axes = _figure(max(7.0, 3.0 + 0.2 * len(measured) * (len(labels) + 1)))
    for n, label in enumerate(labels):
        places, heights, speedups = [], [], []
        for x, m in enumerate(measured):
            for r in (r for r in m.rows if r.label == label and r.milliseconds):
                places.append(x + (n - (len(labels) - 1) / 2) * width)
                heights.append(m.rate(r) or 0.0)
                speedups.append("" if r is m.first else f"x{m.speedup(r):.2f}")
        drawn = axes.bar(places, heights, width, label=label)
        axes.bar_label(drawn, speedups, rotation=90, fontsize=7, padding=3)
    names = [_sizes(m) for m in measured]
    axes.set_xticks(range(len(names)), names, rotation=45 if len(names) > 3 else 0, ha="center")
    axes.set_ylabel(measured[0].unit)
    axes.margins(x=0.01, y=0.15)
    axes.set_title(title)
    figure.legend(loc="outside right upper", fontsize=8)
    return _drawn(figure, format)


def roofline(title: str, measured: Sequence[Measured], peak: Peak, format: str) -> bytes:
    """Rates over operations for a byte that has to be moved, under what the device can do."""
    figure, axes = _figure(7.0)
    points = [m for m in measured if m.case.work.intensity]
    middle = [m.case.work.intensity or 1.0 for m in points]
    types = list(dict.fromkeys(m.case.work.type for m in points)) or ["float"]
    ridges = [peak.gflops[t] / peak.bandwidth for t in types]
    low, high = min([*middle, *ridges]) / 4, max([*middle, *ridges]) * 4
    for t, ridge in zip(types, ridges):
        roof = [peak.at(x, t) for x in (low, ridge, high)]
        what = f"{peak.gflops[t]:.0f} GFLOP/s in {t}, {peak.bandwidth:.0f} GB/s"
        axes.plot([low, ridge, high], roof, color="black", linewidth=1, label=what)
    labels = list(dict.fromkeys(r.label for m in points for r in m.rows if r.milliseconds))
    for label in labels:
        found = [(m, r) for m in points for r in m.rows if r.label == label and r.milliseconds]
        at = [m.case.work.intensity or 0.0 for m, _ in found]
        axes.plot(at, [m.rate(r) or 0.0 for m, r in found], "o", markersize=5, label=label)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("operations for each byte, every array moved once")
    axes.set_ylabel("GFLOP/s")
    axes.set_title(title)
    figure.legend(loc="outside right upper", fontsize=8)
    return _drawn(figure, format)


def _sizes(m: Measured) -> str:
    """`(512, 512, 64)`, as the thesis names them."""
    return f"({', '.join(str(v) for v in m.case.sizes.values())})"


def _figure(width: float) -> tuple[Any, Any]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, 5.0), layout="constrained")
    return figure, figure.add_subplot()


def _drawn(figure: Any, format: str) -> bytes:
    """The bytes of the file: text stays text in SVG, and nothing tells when it was drawn."""
    import matplotlib as mpl

    out = io.BytesIO()
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "loopxform"}):
        figure.savefig(
            out, format=format, dpi=150, metadata={"Date": None} if format == "svg" else {}
        )
    return out.getvalue()
