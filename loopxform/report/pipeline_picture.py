"""The picture of stages that are one kernel: the tile that a group computes, the stages in it one
after the other, and what they pass on through local memory."""

from __future__ import annotations

from collections.abc import Sequence

from loopxform.codegen.opencl.kernel_plan import KernelPlan
from loopxform.ir.printer import expr_text
from loopxform.model.blocks import BlockTile
from loopxform.offload.pipeline_plan import PlannedKernel
from loopxform.report import svg

LEFT, TOP, SIDE, GAP = 12.0, 46.0, 128.0, 56.0
LETTER = 7.4
MOST_ARRAYS = 8
"""Arrays in local memory that are named."""


def drawn(name: str, planned: PlannedKernel, kernel: KernelPlan) -> str:
    """Nothing for nests that are not tiled together."""
    if planned.tile is None:
        return ""
    tile, streamed = _tile(planned), not isinstance(planned.tile, BlockTile)
    parts = [svg.text(LEFT, TOP - 14, "the result, in groups", "axis")]
    parts.append(svg.rect(LEFT, TOP, SIDE, SIDE, "cells"))
    for n in range(1, 4):
        at = n * SIDE / 4
        parts.append(svg.line(LEFT + at, TOP, LEFT + at, TOP + SIDE, "cell"))
        parts.append(svg.line(LEFT, TOP + at, LEFT + SIDE, TOP + at, "cell"))
    parts.append(svg.rect(LEFT + SIDE / 4, TOP + SIDE / 4, SIDE / 4, SIDE / 4, "chosen"))
    parts += _group(LEFT + SIDE + GAP, streamed=streamed)
    stages = f"stages: the nests of lines {', '.join(map(str, planned.lines))}"
    again = planned.predicted.overlap if planned.predicted else 1.0
    texts = [
        tile,
        f"{stages}, one after the other for each {'row' if streamed else 'tile'}",
        *([f"each element is computed {again:.3g} times, on average"] if again > 1 else []),
        *_local(kernel),
    ]
    top = TOP + SIDE + 26
    parts += [svg.text(LEFT, top + 17 * n, words, "label") for n, words in enumerate(texts)]
    width = LEFT + max(2 * SIDE + GAP + 170, LETTER * max(map(len, texts)))
    title = f"What a group computes of the {len(planned.lines)} nests in one kernel"
    return svg.picture(name, title, "; ".join(texts), width, top + 17 * len(texts), parts)


def _tile(planned: PlannedKernel) -> str:
    """The tile in words."""
    tile = planned.tile
    assert tile is not None
    return f"a group: {tile.text}"


def _group(left: float, *, streamed: bool) -> list[str]:
    """A tile: streamed row by row, or as a whole, with the elements around it that it reads."""
    parts = [svg.text(left, TOP - 14, "a group", "axis"), svg.rect(left, TOP, SIDE, SIDE, "staged")]
    inner = 12.0
    parts.append(svg.rect(left + inner, TOP + inner, SIDE - 2 * inner, SIDE - 2 * inner, "cells"))
    side = left + SIDE + 10
    parts.append(svg.text(side, TOP + 12, "halo: computed by", "label"))
    parts.append(svg.text(side, TOP + 28, "neighbours as well", "label"))
    if streamed:
        row = TOP + 44
        parts.append(svg.rect(left + inner, row, SIDE - 2 * inner, 7.0, "chosen"))
        middle = left + SIDE / 2
        parts.append(svg.line(middle, row + 10, middle, row + 42, "arrow"))
        head = f"{middle:.1f},{row + 50:.1f} {middle - 4:.1f},{row + 41:.1f} "
        head += f"{middle + 4:.1f},{row + 41:.1f}"
        parts.append(svg.element("polygon", points=head, class_="head"))
        parts.append(svg.text(side, row + 8, "a row at a time,", "label"))
        parts.append(svg.text(side, row + 24, "each work-item its columns", "label"))
    return parts


def _local(k: KernelPlan) -> Sequence[str]:
    """What a group has in local memory."""
    tiles = k.mapping.tiles
    if not tiles:
        return ["nothing is in local memory: values stay in registers"]
    named = [f"{t.decl.name}[{', '.join(map(expr_text, t.shape))}]" for t in tiles[:MOST_ARRAYS]]
    more = f" and {len(tiles) - MOST_ARRAYS} more" if len(tiles) > MOST_ARRAYS else ""
    return [f"in local memory, {k.local_bytes} bytes: {', '.join(named)}{more}"]
