"""What neighbouring nests become, with what the model says of it, and of the nests as they are."""

from __future__ import annotations

from loopxform.model.blocks import BlockTile
from loopxform.model.predicted import Predicted
from loopxform.model.streams import Tile
from loopxform.records import record


@record
class PlannedKernel:
    """Nests, by the lines where the user's begin, that are one kernel with a tile (None: one nest
    as it is); what it takes by the model (None: that has nothing to say)."""

    lines: tuple[int, ...]
    tile: Tile | BlockTile | None
    predicted: Predicted | None

    @property
    def form(self) -> str:
        """How it is computed."""
        if self.tile is None:
            return "nest"
        return "blocks" if isinstance(self.tile, BlockTile) else "rows"


@record
class PipelinePlan:
    """The kernels of neighbouring nests as they are chosen, and as many as there are nests."""

    chosen: tuple[PlannedKernel, ...]
    apart: tuple[PlannedKernel, ...]


def total(kernels: tuple[PlannedKernel, ...]) -> Predicted | None:
    """Of kernels one after the other; None where one of them is not known."""
    known = [k.predicted for k in kernels if k.predicted is not None]
    if len(known) < len(kernels) or not known:
        return None
    first, *others = known
    return sum(others, start=first)
