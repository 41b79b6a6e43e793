"""The picture of a tile: groups over the result, the work-items of a group, the elements of a
work-item, and the boxes of arrays that a group stages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

from loopxform.model.footprint import Width
from loopxform.model.reuse import Dim, Staged
from loopxform.recipes.tiled import Tiled
from loopxform.records import record
from loopxform.report import svg
from loopxform.report.names import counted_loops
from loopxform.schedule.params import Recipe

DRAWN: frozenset[Recipe] = frozenset(
    [
        *("register", "block", "coarsened", "one-sided", "1-d", "stencil", "transposition"),
        *("elementwise", "naive"),
    ]
)
"""Recipes whose work-items are a grid over the result, with a box of elements each."""

MOST_CELLS = 16
"""Rows and columns of a grid that are drawn."""

LEFT, SIDE, GAP, TOP = 12.0, 128.0, 40.0, 46.0
BOX = 92.0
LETTER = 7.4
"""How wide a letter is, at most on average."""

NOTHING = "Nothing is staged in local memory: caches serve what is read again."


@record
class Panel:
    """A grid with one cell chosen: columns, rows, and what it says below."""

    title: str
    columns: int
    rows: int
    below: tuple[str, ...]
    chosen: tuple[int, int] = (0, 0)


def drawn(name: str, tiled: Tiled, own: Callable[[str], str] = str) -> str:
    """The tile of a nest; nothing for recipes whose tiles are no grid. `own` gives what the user
    calls a loop."""
    dims, sizes = tiled.choice.dims, tiled.sizes
    if tiled.recipe not in DRAWN or not dims:
        return ""
    panels = _panels(tiled, own)
    parts = [part for n, p in enumerate(panels) for part in _panel(n, p)]
    parts += [_zoom(n) for n in range(len(panels) - 1)]
    top = TOP + max(_height(p) + 15 * len(_texts(p)) for p in panels) + 28
    boxes, below, wide = _boxes(tiled.staged, sizes, top)
    if not tiled.staged:
        boxes, below = [svg.text(LEFT, top, NOTHING, "label")], top
    width = max(LEFT + 3 * SIDE + 2 * GAP + 40, wide, LEFT + LETTER * len(NOTHING))
    title = f"What a group and a work-item compute of {', '.join(own(d.loop) for d in dims)}"
    told = [" ".join((p.title, *p.below)) for p in panels]
    about = "; ".join([*told, *_told(tiled.staged, sizes)])
    return svg.picture(name, title, about, width, below + 14, [*parts, *boxes])


def _panels(tiled: Tiled, own: Callable[[str], str]) -> list[Panel]:
    choice, sizes = tiled.choice, tiled.sizes
    dims = choice.dims
    loops = counted_loops(map(own, tiled.nest.parallel))
    deep = len(tiled.nest.parallel) > 1
    result = Panel("the result, in groups", 5, 5 if deep else 1, (loops,), (1, 2 if deep else 0))
    if not any(d.items for d in dims):
        names = [n for n in choice.group if n in sizes]
        count = prod(sizes[n] for n in names)
        columns = min(count, MOST_CELLS)
        below = (f"{'*'.join(names)} = {count} work-items",) if names else ("one work-item",)
        one = Panel("a work-item", 1, 1, ("one iteration",))
        return [result, Panel("a group", columns, max(1, count // columns), below), one]
    across, down = _axes(dims, choice.neighbours)
    group = Panel("a group", *_cells(across, down, "items", sizes), _shape(dims, "items", sizes))
    item = Panel("a work-item", *_cells(across, down, "kept", sizes), _shape(dims, "kept", sizes))
    return [result, group, item]


def _axes(dims: Sequence[Dim], neighbours: str) -> tuple[Dim, Dim | None]:
    """The loops that are drawn from left to right and from top to bottom."""
    across = next((d for d in dims if d.loop == neighbours), dims[-1])
    others = [d for d in dims if d is not across]
    return across, others[-1] if others else None


def _cells(across: Dim, down: Dim | None, what: str, sizes: dict[str, int]) -> tuple[int, int]:
    columns, rows = (getattr(d, what) if d else "" for d in (across, down))
    return sizes.get(columns, 1), sizes.get(rows, 1)


def _shape(dims: Sequence[Dim], what: str, sizes: dict[str, int]) -> tuple[str, ...]:
    """`Ty x Tx` and `= 16 x 16 work-items`."""
    unit = "work-items" if what == "items" else "elements"
    names = [getattr(d, what) for d in dims]
    if not any(names):
        return (f"one {unit.removesuffix('s')}",)
    numbers = [sizes.get(n, 1) for n in names]
    return " x ".join(n or "1" for n in names), f"= {' x '.join(map(str, numbers))} {unit}"


def _height(p: Panel) -> float:
    rows = min(p.rows, MOST_CELLS)
    return min(SIDE, 24.0 * rows)


def _texts(p: Panel) -> list[str]:
    """What stands below a panel."""
    is_cut = max(p.columns, p.rows) > MOST_CELLS
    return [*p.below, *([f"({MOST_CELLS} a side are drawn)"] if is_cut else [])]


def _panel(n: int, p: Panel) -> list[str]:
    left = LEFT + n * (SIDE + GAP)
    columns, rows = min(p.columns, MOST_CELLS), min(p.rows, MOST_CELLS)
    w, h = SIDE / columns, _height(p) / rows
    bottom, right = TOP + h * rows, left + SIDE
    x, y = min(p.chosen[0], columns - 1), min(p.chosen[1], rows - 1)
    parts = [
        svg.text(left, TOP - 14, p.title, "axis"),
        svg.rect(left, TOP, SIDE, h * rows, "cells"),
    ]
    parts.append(svg.rect(left + x * w, TOP + y * h, w, h, "chosen"))
    for k in range(1, columns):
        parts.append(svg.line(left + k * w, TOP, left + k * w, bottom, "cell"))
    for k in range(1, rows):
        parts.append(svg.line(left, TOP + k * h, right, TOP + k * h, "cell"))
    for k, words in enumerate(_texts(p)):
        parts.append(svg.text(left, bottom + 16 + 15 * k, words, "label"))
    return parts


def _zoom(n: int) -> str:
    """An arrow from a panel to the next."""
    x, y = LEFT + SIDE + n * (SIDE + GAP) + 8, TOP + 12
    head = f"{x + 24:.1f},{y:.1f} {x + 16:.1f},{y - 4:.1f} {x + 16:.1f},{y + 4:.1f}"
    return svg.line(x, y, x + 18, y, "arrow") + svg.element("polygon", points=head, class_="head")


# ---------------------------------------------------------------- what is staged


def _boxes(
    staged: Sequence[Staged], sizes: dict[str, int], top: float
) -> tuple[list[str], float, float]:
    """The boxes of arrays, all to one scale, each with its text to the right; where they end."""
    if not staged:
        return [], top, 0.0
    largest = max(w.value(sizes) for s in staged for w in _sides(s))
    out = [svg.text(LEFT, top, "staged in local memory by a group", "axis")]
    y, wide = top + 14, 0.0
    for s in staged:
        *_, rows, columns = (1, *(w.value(sizes) for w in s.stage.box.widths))
        w, h = (max(5.0, BOX * n / largest) for n in (columns, rows))
        out.append(svg.rect(LEFT, y, w, h, "staged"))
        texts = _box_texts(s, sizes)
        for k, words in enumerate(texts):
            out.append(svg.text(LEFT + BOX + 14, y + 11 + 16 * k, words, "label"))
        wide = max(wide, LEFT + BOX + 20 + LETTER * max(map(len, texts)))
        y += max(h, 16.0 * len(texts)) + 14
    return out, y - 14, wide


def _sides(s: Staged) -> tuple[Width, ...]:
    """The last two dimensions, which are drawn."""
    return s.stage.box.widths[-2:]


def _box_texts(s: Staged, sizes: dict[str, int]) -> list[str]:
    widths = s.stage.box.widths
    formula = " x ".join(w.text for w in widths)
    numbers = " x ".join(str(w.value(sizes)) for w in widths)
    when = f"for each tile of {s.stage.loop}" if s.stage.loop else "once"
    then = ", then read into registers" if s.private else ""
    return [
        f"{s.stage.array}: {formula} = {numbers}",
        f"{s.stage.bytes(sizes)} bytes, {when}{then}",
    ]


def _told(staged: Sequence[Staged], sizes: dict[str, int]) -> list[str]:
    """The boxes in words."""
    return [f"staged {', '.join(_box_texts(s, sizes))}" for s in staged] or [NOTHING]
