"""What a plan has to fit into: the limits of a device.

Figures are per compute unit or per work-item as OpenCL sees them (what a kernel may use, which can
be less than what the chip has: NVIDIA's OpenCL gives a group 48 KiB of local memory).
"""

from __future__ import annotations

from loopxform.records import record


@record
class Limits:
    """What a plan has to fit into.

    `group_size` is in work-items, `local_bytes` the local memory of a group, `registers` the
    32-bit registers a work-item can have without spilling, `warp` the work-items that run in
    lockstep, `compute_units` 0 where unknown. `vector` is the bytes of a vector register where
    tiled C runs on a CPU: the elements of a work-item are its lanes, and `registers` counts its
    vector registers in words of 32 bits; 0 where every work-item has registers of its own.
    Where nothing else is asked, register tiles move `at_once` elements at once, offsets have 32
    bits where the sizes allow it (`narrow`), tiles have `stages` buffers and are read ahead
    (`preload`), and unrolled register tiles are walked there and back in `serpentine` rows (0: in
    the order of the program), by work-items that stand in a `rectangle` (rows, columns; 0 for rows
    of them); arrays whose rows are no vectors are copied into longer ones where each serves `pack`
    iterations (0: never). The device fills tiles on its own (`asynchronous`) where each element of
    their arrays serves `arrange` iterations, `turn` of them where rows of the array are vectors,
    but lie across those of the tile.
    `bandwidth` is that of global memory in GB/s, `peak` in GFLOP/s of floats, both 0 where unknown.
    `tile_times` are what register tiles take, and to start, in numbers that matter in proportion.
    A device that is there has those of a profile of ours where its name contains one of
    `measured_on`; a profile that the user names counts as it is.
    """

    name: str
    group_size: int
    local_bytes: int
    registers: int
    warp: int
    compute_units: int = 0
    item_sizes: tuple[int, int, int] = (1024, 1024, 64)
    vector: int = 0
    at_once: int = 1
    narrow: bool = False
    stages: int = 1
    preload: bool = False
    serpentine: int = 0
    pack: int = 0
    asynchronous: bool = False
    arrange: int = 0
    turn: int = 0
    rectangle: tuple[int, int] = (0, 0)
    bandwidth: float = 0
    peak: float = 0
    tile_times: tuple[tuple[str, int, int], ...] = ()
    measured_on: tuple[str, ...] = ()


KIB = 1024
GENERIC = Limits("generic", 1024, 48 * KIB, 128, 32)
"""Any GPU. Seed 000, tables 1 and 2: 1024 work-items and 48 KiB a group. 128 registers: half of
what current GPUs give a work-item in a group of 256."""
