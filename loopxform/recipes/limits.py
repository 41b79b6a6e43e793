"""What a plan has to fit into: limits of devices, by name where the device is not at hand.

Figures are per compute unit or per work-item as OpenCL sees them (what a kernel may use, which can
be less than what the chip has: NVIDIA's OpenCL gives a group 48 KiB of local memory).
"""

from __future__ import annotations

from dataclasses import dataclass

from loopxform.errors import UsageError
from loopxform.nearest import did_you_mean


@dataclass(frozen=True, slots=True)
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


KIB = 1024


def _nvidia(
    name: str, compute_units: int, bandwidth: float, peak: float, *, asynchronous: bool = False
) -> Limits:
    """CUDA C programming guide, compute capabilities 3.5 to 9.0: 1024 threads, 255 registers a
    thread. What else pays there: docs/performance.md."""
    return Limits(
        name,
        1024,
        48 * KIB,
        255,
        32,
        compute_units,
        at_once=4,
        narrow=True,
        stages=2,
        preload=True,
        serpentine=8,
        pack=1920,
        asynchronous=asynchronous,
        arrange=1920,
        turn=2112,
        rectangle=(4, 8),
        bandwidth=bandwidth,
        peak=peak,
    )


PROFILES: dict[str, Limits] = {
    p.name: p
    for p in (
        # Seed 000, tables 1 and 2: 1024 items and 48 KiB a group. 128 registers: half of what
        # current GPUs give a work-item in a group of 256.
        Limits("generic", 1024, 48 * KIB, 128, 32, item_sizes=(1024, 1024, 64)),
        _nvidia("h100", 132, 3350, 66900, asynchronous=True),
        _nvidia("a100", 108, 2039, 19500, asynchronous=True),
        _nvidia("rtx2080ti", 68, 616, 13400),
        _nvidia("gtx780ti", 15, 336, 5040),
        # AMD CDNA 2 ISA: 64 lanes, 256 architectural VGPRs a lane; ROCm's OpenCL reports 256 items
        # a group; 104 CUs on each of the two dies (one device each).
        Limits(
            "mi250",
            256,
            64 * KIB,
            256,
            64,
            104,
            (1024, 1024, 1024),
            bandwidth=1638,
            peak=22600,
        ),
        # Intel Xe-LP: 128 registers of 32 bytes a hardware thread, 16 lanes: 64 of 32 bits a
        # lane; 512 items a group and 64 KiB as its OpenCL reports; 96 EUs.
        Limits(
            "intel-xe",
            512,
            64 * KIB,
            64,
            16,
            96,
            (512, 512, 512),
            bandwidth=68,
            peak=2000,
        ),
        # Arm Valhall (Mali-G77 and later): 64 registers of 32 bits a work-item, warps of 16, local
        # memory in the caches, 32 KiB as its OpenCL reports.
        Limits("mali", 1024, 32 * KIB, 64, 16),
        # Qualcomm Adreno 6xx and 7xx: 32 KiB and 1024 items as its OpenCL reports, waves of 64. It
        # does not publish its registers: 64 are assumed.
        Limits("adreno", 1024, 32 * KIB, 64, 64),
        # PoCL on a CPU reports 4096 items, and its cache as local memory (2 MiB measured on a
        # server core); a tile should fit the 256 KiB of a smaller L2. Private memory is the stack:
        # registers are no limit there.
        Limits("pocl", 4096, 256 * KIB, 4096, 1, item_sizes=(4096, 4096, 4096)),
        # Tiled C: tiles that share half of a 256 KiB L2 with the results; x86-64-v3 (AVX2) has 16
        # vector registers of 32 bytes, AVX-512 has 32 of 64.
        Limits("cpu", 65536, 128 * KIB, 16 * 8, 1, item_sizes=(65536,) * 3, vector=32),
        Limits("avx512", 65536, 128 * KIB, 32 * 16, 1, item_sizes=(65536,) * 3, vector=64),
    )
}


def profile(name: str) -> Limits:
    """The profile of that name, whatever the case, or of a file NAME.toml. Raises UsageError."""
    if name.endswith(".toml"):
        from loopxform.recipes.device_file import device_file  # loads what only this needs

        return device_file(name)
    found = PROFILES.get(name.strip().lower())
    if found is None:
        every = f"profiles: {', '.join(PROFILES)}, or a file NAME.toml"
        help = did_you_mean(name, PROFILES) + every
        raise UsageError(f"there is no device profile '{name}'", help=help)
    return found
