"""The picture of a tile: groups over the result, the work-items of a group, the elements of a
work-item, and the boxes of arrays that a group stages."""

from __future__ import annotations

from collections.abc import Sequence

from loopxform.model.reuse import Dim, Staged
from loopxform.recipes.tile_nest import Tiled
from loopxform.report import svg

MOST_CELLS = 16
"""Rows and columns of a grid that are drawn."""

SIDE, GAP, TOP = 128.0, 40.0, 46.0
BOX = 92.0


def drawn(name: str, tiled: Tiled) -> str:
    """The tile of a nest; nothing where no loop of it is tiled."""
    sizes = {**tiled.sizes}
    dims = [d for d in tiled.choice.dims if set(map(str, d.factors)) <= sizes.keys()]
    if not dims:
        return ""
    across = next((d for d in dims if d.loop == tiled.choice.neighbours), dims[-1])
    others = [d for d in dims if d is not across]
    down = others[-1] if others else None
    panels = [
        _panel(0, "the result, in groups", _under(tiled, dims), (5, 5 if down else 1), (1, 2)),
        _panel(1, "a group", _items(across, down, sizes), _count(across, down, "items", sizes)),
        _panel(2, "a work-item", _kept(across, down, sizes), _count(across, down, "kept", sizes)),
    ]
    boxes = _boxes(tiled.staged, sizes)
    width = 3 * SIDE + 2 * GAP + 24
    height = TOP + SIDE + 44 + (BOX + 66 if tiled.staged else 20)
    zooms = [_zoom(0), _zoom(1)]
    foot = [] if tiled.staged else [svg.text(12, height - 8, NOTHING, "label")]
    title = f"What a group and a work-item compute of {', '.join(d.loop for d in dims)}"
    about = "; ".join(
        [_items(across, down, sizes), _kept(across, down, sizes), *_told(tiled, sizes)]
    )
    width = max(width, 12 + len(tiled.staged) * (BOX + 110))
    return svg.picture(name, title, about, width, height, [*panels, *zooms, *boxes, *foot])


NOTHING = "Nothing is staged in local memory: caches serve what is read again."


def _panel(
    n: int, title: str, below: str, cells: tuple[int, int], chosen: tuple[int, int] = (0, 0)
) -> str:
    """A grid of cells, of which one is chosen; `cells` are columns and rows."""
    left = 12 + n * (SIDE + GAP)
    columns, rows = (min(c, MOST_CELLS) for c in cells)
    w, h = SIDE / columns, min(SIDE, SIDE / rows)
    if rows == 1:
        h = min(h, 24.0)
    parts = [svg.text(left, TOP - 14, title, "axis")]
    x, y = min(chosen[0], columns - 1), min(chosen[1], rows - 1)
    parts.append(svg.rect(left, TOP, SIDE, h * rows, "cells"))
    parts.append(svg.rect(left + x * w, TOP + y * h, w, h, "chosen"))
    parts += [
        svg.line(left + k * w, TOP, left + k * w, TOP + h * rows, "cell") for k in range(1, columns)
    ]
    parts += [svg.line(left, TOP + k * h, left + SIDE, TOP + k * h, "cell") for k in range(1, rows)]
    for k, words in enumerate(_wrapped(below)):
        parts.append(svg.text(left, TOP + SIDE + 18 + 16 * k, words, "label"))
    return "".join(parts)


def _wrapped(words: str) -> list[str]:
    """In at most two lines, broken at ` = ` or a comma."""
    for mark in (" = ", ", "):
        if len(words) > 20 and mark in words:
            first, _, rest = words.partition(mark)
            return [first, (f"= {rest}" if mark == " = " else rest)]
    return [words]


def _zoom(n: int) -> str:
    """An arrow from a panel to the next."""
    x, y = 12 + SIDE + n * (SIDE + GAP) + 8, TOP + 14
    head = f"{x + 24:.1f},{y:.1f} {x + 16:.1f},{y - 4:.1f} {x + 16:.1f},{y + 4:.1f}"
    return svg.line(x, y, x + 18, y, "arrow") + svg.element("polygon", points=head, class_="head")


def _count(across: Dim, down: Dim | None, what: str, sizes: dict[str, int]) -> tuple[int, int]:
    names = [getattr(d, what) for d in (across, down) if d is not None]
    numbers = [sizes[n] if n else 1 for n in names]
    return (numbers[0], numbers[1] if down else 1)


def _under(tiled: Tiled, dims: Sequence[Dim]) -> str:
    more = len(tiled.nest.parallel) - min(2, len(dims))
    rest = f", and over {more} more loop{'s' if more > 1 else ''}" if more > 0 else ""
    return f"loops {', '.join(d.loop for d in dims[-2:])}{rest}"


def _items(across: Dim, down: Dim | None, sizes: dict[str, int]) -> str:
    return _shape(across, down, "items", sizes, "work-items")


def _kept(across: Dim, down: Dim | None, sizes: dict[str, int]) -> str:
    return _shape(across, down, "kept", sizes, "elements")


def _shape(across: Dim, down: Dim | None, what: str, sizes: dict[str, int], unit: str) -> str:
    """`Ty x Tx = 16 x 16 work-items`."""
    names = [getattr(d, what) for d in (down, across) if d is not None]
    if not any(names):
        return f"one {unit.removesuffix('s')}"
    texts = [n or "1" for n in names]
    numbers = [str(sizes[n]) if n else "1" for n in names]
    return f"{' x '.join(texts)} = {' x '.join(numbers)} {unit}"


def _boxes(staged: Sequence[Staged], sizes: dict[str, int]) -> list[str]:
    """The boxes of arrays, to one scale, with where they are kept."""
    found = [(s, s.stage.box.widths) for s in staged]
    if not found:
        return []
    largest = max(w.value(sizes) for _, widths in found for w in widths[-2:] or widths)
    top, out = TOP + SIDE + 66, []
    out.append(svg.text(12, top - 10, "staged in local memory by a group", "axis"))
    for n, (s, widths) in enumerate(found):
        left = 12 + n * (BOX + 110)
        *_, h, w = (
            (1, *(x.value(sizes) for x in widths))
            if len(widths) == 1
            else (*(x.value(sizes) for x in widths),)
        )
        wide, tall = max(6.0, BOX * w / largest), max(6.0, BOX * h / largest)
        out.append(svg.rect(left, top, wide, tall, "staged"))
        texts = [
            f"{s.stage.array}: {' x '.join(x.text for x in widths)}",
            f"= {' x '.join(str(x.value(sizes)) for x in widths)}, {s.stage.bytes(sizes)} bytes",
            f"for each tile of {s.stage.loop}" if s.stage.loop else "once",
            "then in registers" if s.private else "",
        ]
        down = top + tall + 16 if wide > BOX * 0.6 else top + 10
        side = left if wide > BOX * 0.6 else left + wide + 8
        if tall > BOX * 0.5 and wide > BOX * 0.6:
            down, side = top + 14, left + wide + 8
        out += [
            svg.text(side, down + 16 * k, words, "label") for k, words in enumerate(texts) if words
        ]
    return out


def _told(tiled: Tiled, sizes: dict[str, int]) -> list[str]:
    """The boxes in words."""
    return [
        f"{s.stage.array}: {s.stage.box.elements(sizes)} elements staged"
        f"{f' for each tile of {s.stage.loop}' if s.stage.loop else ''}"
        f"{', then in registers' if s.private else ''}"
        for s in tiled.staged
    ] or [NOTHING]
