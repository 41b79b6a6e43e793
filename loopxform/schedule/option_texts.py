"""What each option of tiling means, in a line."""

from __future__ import annotations

SIZES = {
    "Ty": "work-items of a work-group along the outer tiled loop",
    "Tx": "work-items of a work-group along the inner tiled loop",
    "Tk": "tile of the sequential loop",
    "Ry": "elements that a work-item computes along the outer tiled loop",
    "Rx": "elements that a work-item computes along the inner tiled loop",
    "Tz": "work-items along a third tiled loop (stencils)",
}
RECIPE = "how to tile; auto: choose by the reuse of the data"
CHUNKS = (
    "split-K: split the reduction into chunks of Tk*N terms that run in parallel "
    "(N is 256 if no loop is parallel)"
)
LAYOUT = (
    "copy an array first, with its dimensions in this order, and read the copy; "
    "none: no copies (default: where they pay)"
)
VECTOR = "elements of a row that a copy loads at once, where alignment allows it (1: none)"
INDEX = "bits of array offsets; 32: in a kernel for sizes that allow it (64)"
SERPENTINE = "traverse register tiles in serpentine order, ROWS at a time (0: in order)"
CYCLIC = (
    "block-cyclic distribution: work-items take turns, N adjacent elements each time "
    "(1: one contiguous block each)"
)
PACK = (
    "copy arrays with unaligned rows to padded rows if each element is read in at least N "
    "iterations (0: never)"
)
BANDS = "threadblock swizzle: process work-groups in bands of N rows (1: row by row)"
FIXED = "build the kernel for these sizes only; for others your own loops run"
STAGES = (
    "buffers for each tile; 2: double buffering, load a tile while computing with the one before; "
    "more: asynchronous copies only"
)
LANES = "warp tile: the rectangle of work-items that run in lockstep, 4x8 (0x0: one row)"
FLAGS = {
    "pad": "pad partial tiles of the sequential loop with neutral elements instead of an epilogue, "
    "where that is proven to change nothing",
    "no-pad": "compute partial tiles of the sequential loop in an epilogue",
    "preload": "double-buffer registers: load the operands of the next iteration in advance",
    "no-preload": "load operands from local memory where they are used",
    "async-copies": "let the hardware copy tiles to local memory asynchronously (NVIDIA, compute "
    "capability 8.0 or newer)",
    "edge-versions": "separate versions for full tiles, without the bounds checks of partial ones",
    "reassociate": "allow sums and products of floats to be computed in another order",
}
