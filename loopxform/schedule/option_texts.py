"""What each option of tiling means, in a line."""

from __future__ import annotations

SIZES = {
    "Ty": "work-items of a group along the outer tiled loop",
    "Tx": "work-items of a group along the inner tiled loop",
    "Tk": "tile of the sequential loop",
    "Ry": "elements per work-item along the outer tiled loop",
    "Rx": "elements per work-item along the inner tiled loop",
    "Tz": "work-items along a third tiled loop (stencils)",
}
RECIPE = "what is tiled: found from what is used again (auto), or one of the named ways"
CHUNKS = (
    "split the reduction into chunks of Tk*N terms that run at the same time (N is 256 "
    "where no loop is parallel)"
)
LAYOUT = (
    "read an array from a copy with its dimensions in this order, made first; "
    "none: make no copies, which else are made where they pay"
)
VECTOR = "neighbours of a row that a copy moves at once where it may (1: none)"
INDEX = "bits of the offsets of elements, 32 where the sizes allow it (64)"
SERPENTINE = "rows of a register tile that are walked together, there and back (0: in order)"
CYCLIC = "elements that a work-item gets at a time, in turns with others (1: all of its own)"
PACK = (
    "iterations that read each element of an array for which rows that are no vectors are worth a "
    "copy with longer ones (0: never)"
)
BANDS = "rows of groups that are walked together, column by column (1: row by row)"
FIXED = "make kernels for these sizes only; for others your own loops run"
STAGES = (
    "buffers of a tile: 2 to fetch it while the group computes with the one before, or 1; more for "
    "copies that the hardware makes"
)
LANES = "the rectangle of the work-items that run in lockstep: 4x8 (0x0: rows)"
FLAGS = {
    "pad": "fill partial tiles of the sequential loop with numbers that change nothing, where "
    "that can be shown, in place of an epilogue",
    "no-pad": "an epilogue for partial tiles of the sequential loop",
    "preload": "what work-items read of tiles is read an iteration ahead, into a second register",
    "no-preload": "what work-items read of tiles is read where it is used",
    "async-copies": "tiles are copied ahead by the hardware, past registers, where it can "
    "(NVIDIA's, from compute capability 8.0 on)",
    "edge-versions": "copy and write whole tiles in versions without the checks of partial ones",
    "reassociate": "sums and products of floats may be computed in another order",
}
