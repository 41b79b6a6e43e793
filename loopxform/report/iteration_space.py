"""The picture of a dependence: the iterations of one or two loops as dots, two that collide, and an
arrow from the earlier to the later."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress

from loopxform.analysis.pairs import Witness
from loopxform.errors import MalformedIR
from loopxform.ir.evaluate import evaluate
from loopxform.ir.nodes import For
from loopxform.records import record
from loopxform.report import svg

MOST = 9
"""Iterations of a loop that are drawn: more are left out where nothing happens."""

STEP, LEFT, TOP = 34.0, 64.0, 34.0


@record
class Axis:
    """A loop: its variable, the values that are drawn, None for those left out between them."""

    var: str
    values: tuple[int | None, ...]

    def at(self, value: int) -> float:
        """How far from the first one a value is drawn."""
        return STEP * self.values.index(value)


@record
class Space:
    """The iterations of loops, outermost first, as their `names` are in a witness; `loops` are
    their headers, None where there is none to ask."""

    names: tuple[str, ...]
    loops: tuple[For | None, ...]

    def values(self, n: int, known: Mapping[str, int]) -> range | None:
        """The values of a loop for given sizes and values of the loops around it; None where that
        is not known."""
        loop = self.loops[n]
        if loop is None:
            return None
        with suppress(KeyError, ZeroDivisionError, MalformedIR):
            lo, hi, step = (evaluate(e, known) for e in (loop.lo, loop.hi, loop.step))
            return range(lo, hi, step) if step else None
        return None


def axis(var: str, ends: Sequence[int], values: range | None) -> Axis:
    """The values of a loop around the two that collide; those that it has, where they are few."""
    if values is not None and 0 < len(values) <= MOST:
        return Axis(var, tuple(sorted({*values, *ends})))
    low, high = min(ends), max(ends)
    first, last = low - 1, high + 1
    if values:
        first, last = max(first, min(values)), min(last, max(values))
    if last - first < MOST:
        return Axis(var, tuple(range(first, last + 1)))
    return Axis(var, (*range(first, low + 3), None, *range(high - 2, last + 1)))


def drawn(
    name: str, title: str, witness: Witness, space: Space, carrier: str, labels: tuple[str, str]
) -> str:
    """The two iterations of a witness in the space of two loops (the outer is vertical) or of one:
    of the one that carries the dependence, and another whose values differ, else one beside it.
    `labels` say what each iteration does. Nothing where the witness does not name the loop."""
    source, sink = witness.source, witness.sink
    named = [v for v in space.names if v in source and v in sink]
    if carrier not in named or len(set(named)) < len(named):
        return ""
    shown = _shown(named, carrier, witness)
    ways = [space.names.index(v) for v in shown]
    known = {**witness.params, **source}
    down = None
    if len(shown) == 2:
        down = axis(shown[0], (source[shown[0]], sink[shown[0]]), space.values(ways[0], known))
    columns = _columns(space, ways[-1], known, down)
    ends = source[shown[-1]], sink[shown[-1]]
    every = sorted(set().union(*(r for r in columns if r is not None and len(r) <= 99)))
    spanned = range(every[0], every[-1] + 1) if every and None not in columns else None
    across = axis(shown[-1], ends, spanned)
    width = LEFT + STEP * len(across.values) + 20
    base = TOP + STEP * (len(down.values) if down else 1)
    first, second = (_place(at, across, down) for at in (source, sink))
    parts = [*_axes(across, down), *_dots(across, down, columns), _arrow(first, second)]
    parts += [_end(first, "1", "source"), _end(second, "2", "sink")]
    for n, label in enumerate(labels):
        parts.append(svg.text(4, base + 26 + 18 * n, f"{n + 1}: {label}", "label"))
    width = max(width, 24 + 7.4 * max(map(len, labels)))
    about = f"1: {labels[0]}. 2: {labels[1]}."
    return svg.picture(name, title, about, width, base + 54, parts)


def _shown(named: Sequence[str], carrier: str, witness: Witness) -> list[str]:
    """The loops that are drawn, the outer first."""
    others = [v for v in named if v != carrier]
    moved = [v for v in others if witness.source[v] != witness.sink[v]]
    n = named.index(carrier)
    beside = [*named[n + 1 : n + 2], *named[max(0, n - 1) : n]]
    pair = {carrier, *(moved or beside)[:1]}
    return [v for v in named if v in pair]


def _columns(
    space: Space, n: int, known: Mapping[str, int], down: Axis | None
) -> list[range | None]:
    """The values of the inner loop in each row that is drawn."""
    if down is None:
        return [space.values(n, known)]
    rows = [{**known, down.var: v} for v in down.values if v is not None]
    return [space.values(n, row) for row in rows]


def _axes(across: Axis, down: Axis | None) -> list[str]:
    base = TOP + (STEP * len(down.values) if down else STEP)
    out = [
        svg.text(LEFT + STEP * n, base, "..." if v is None else str(v), "tick", "middle")
        for n, v in enumerate(across.values)
    ]
    out.append(svg.text(LEFT + STEP * (len(across.values) - 0.4), base, across.var, "axis"))
    if down is None:
        return out
    out += [
        svg.text(LEFT - 26, TOP + STEP * n + 4, "..." if v is None else str(v), "tick", "end")
        for n, v in enumerate(down.values)
    ]
    return [*out, svg.text(LEFT - 30, TOP - 18, down.var, "axis", "end")]


def _dots(across: Axis, down: Axis | None, columns: Sequence[range | None]) -> list[str]:
    """The iterations that there are, as far as that is known."""
    rows = [y for y, v in enumerate(down.values) if v is not None] if down else [0]
    return [
        svg.element("circle", cx=LEFT + STEP * x, cy=TOP + STEP * y, r=4.0, class_="dot")
        for y, there in zip(rows, columns)
        for x, v in enumerate(across.values)
        if v is not None and (there is None or v in there)
    ]


def _place(at: dict[str, int], across: Axis, down: Axis | None) -> tuple[float, float]:
    y = TOP + down.at(at[down.var]) if down else TOP
    return LEFT + across.at(at[across.var]), y


def _end(at: tuple[float, float], number: str, kind: str) -> str:
    """One of the two iterations."""
    x, y = at
    ring = svg.element("circle", cx=x, cy=y, r=10.0, class_=kind)
    return ring + svg.text(x, y + 4, number, f"{kind}-number", "middle")


def _arrow(a: tuple[float, float], b: tuple[float, float]) -> str:
    """From the first to the second, bent, so that it does not hide the dots between them."""
    (x1, y1), (x2, y2) = a, b
    dx, dy = x2 - x1, y2 - y1
    length = max(1.0, (dx * dx + dy * dy) ** 0.5)
    bend = min(26.0, 8 + length / 6)
    mx, my = (x1 + x2) / 2 + dy / length * bend, (y1 + y2) / 2 - dx / length * bend
    tx, ty = x2 - mx, y2 - my
    t = max(1.0, (tx * tx + ty * ty) ** 0.5)
    ux, uy = tx / t, ty / t
    ex, ey = x2 - 11 * ux, y2 - 11 * uy
    start = f"M {x1:.1f} {y1:.1f} Q {mx:.1f} {my:.1f} {ex - 5 * ux:.1f} {ey - 5 * uy:.1f}"
    head = " ".join(
        f"{px:.1f},{py:.1f}"
        for px, py in (
            (ex, ey),
            (ex - 9 * ux + 4.5 * uy, ey - 9 * uy - 4.5 * ux),
            (ex - 9 * ux - 4.5 * uy, ey - 9 * uy + 4.5 * ux),
        )
    )
    shaft = svg.element("path", d=start, class_="arrow")
    return shaft + svg.element("polygon", points=head, class_="head")
