"""The roofline of a profile as SVG: the share of the peak over operations for each byte."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import ceil, floor, log10
from typing import TypeAlias

from loopxform.records import record
from loopxform.report import svg

WIDTH, HEIGHT = 560.0, 312.0
LEFT, RIGHT, TOP, BOTTOM = 64.0, 16.0, 30.0, 250.0
DECADES = 3
"""How far down the share of the peak is drawn, in powers of ten."""


@record
class Point:
    """A kernel: operations on floats for each byte that it asks for, and the share of the peak."""

    title: str
    intensity: float
    share: float


@record
class Roof:
    """What a device can do: `peak` in GFLOP/s and `bandwidth` in GB/s, 0 where they are not known;
    operations in the time of a byte (`balance`), and how much faster caches are (`cached`)."""

    name: str
    peak: float
    bandwidth: float
    balance: float
    cached: int

    def memory(self, intensity: float) -> float:
        """The share of the peak that memory allows."""
        return min(1.0, intensity / self.balance)

    def caches(self, intensity: float) -> float:
        return min(1.0, self.cached * intensity / self.balance)


def drawn(name: str, points: Sequence[Point], roof: Roof) -> str:
    """Kernels under the roofs of memory and of caches, both axes logarithmic."""
    known = [*(p.intensity for p in points), roof.balance, roof.balance / roof.cached]
    low, high = floor(log10(min(known)) - 0.2), ceil(log10(max(known)) + 0.2)
    lowest = min(-DECADES, floor(log10(max(1e-9, min(p.share for p in points)))))

    def x(intensity: float) -> float:
        return LEFT + (log10(intensity) - low) / (high - low) * (WIDTH - LEFT - RIGHT)

    def y(share: float) -> float:
        return BOTTOM + (max(log10(share), lowest) - lowest) / lowest * (BOTTOM - TOP)

    parts = [svg.line(x(10.0**n), TOP, x(10.0**n), BOTTOM, "grid") for n in range(low, high + 1)]
    parts += [
        svg.line(LEFT, y(10.0**n), WIDTH - RIGHT, y(10.0**n), "grid") for n in range(lowest, 1)
    ]
    parts += [
        svg.text(x(10.0**n), BOTTOM + 16, f"{10.0**n:g}", "tick", "middle")
        for n in range(low, high + 1)
    ]
    parts += [
        svg.text(LEFT - 6, y(10.0**n) + 4, _share(10.0**n, roof), "tick", "end")
        for n in range(lowest, 1)
    ]
    across = "operations on floats for each byte that is asked for"
    parts.append(svg.text((LEFT + WIDTH - RIGHT) / 2, BOTTOM + 36, across, "axis", "middle"))
    unit = "GFLOP/s" if roof.peak else "share of the peak"
    parts.append(svg.text(4, 14, unit, "axis"))
    for kind, cut in (("caches", roof.balance / roof.cached), ("memory", roof.balance)):
        height = roof.caches if kind == "caches" else roof.memory
        corners = [(10.0**low, height(10.0**low)), (cut, 1.0), (10.0**high, 1.0)]
        path = " ".join(f"{x(a):.1f},{y(b):.1f}" for a, b in corners)
        parts.append(svg.element("polyline", points=path, class_=f"roof {kind}"))
    parts += _points(points, x, y)
    parts.append(svg.text(WIDTH - RIGHT, HEIGHT - 6, _legend(roof), "tick", "end"))
    return svg.picture(name, f"Roofline of {roof.name}", _about(points, roof), WIDTH, HEIGHT, parts)


Scale: TypeAlias = Callable[[float], float]


def _points(points: Sequence[Point], x: Scale, y: Scale) -> list[str]:
    out = []
    for n, p in enumerate(points):
        at, up = x(p.intensity), y(p.share)
        out.append(svg.element("circle", cx=at, cy=up, r=6.0, class_=f"point p{n}"))
        right = at < (LEFT + WIDTH) * 0.6
        out.append(
            svg.text(
                at + (10 if right else -10), up + 18, p.title, "label", "start" if right else "end"
            )
        )
    return out


def _share(share: float, roof: Roof) -> str:
    return f"{share * roof.peak:,.0f}" if roof.peak else f"{share * 100:g} %"


def _legend(roof: Roof) -> str:
    served = (
        f"{roof.bandwidth:g} GB/s" if roof.bandwidth else f"1 byte per {roof.balance:g} operations"
    )
    return f"solid: memory, {served}; dashed: caches, {roof.cached} times that"


def _about(points: Sequence[Point], roof: Roof) -> str:
    """The picture in words."""
    each = "; ".join(
        f"{p.title}: {p.intensity:.3g} operations a byte, {p.share * 100:.2g} % of the peak by the "
        "model"
        for p in points
    )
    return f"{each}. {_legend(roof)}."
