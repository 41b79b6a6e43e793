"""How written C copies arrays between the caller's memory and a device.

[copies]
pieces_from = 8388608      # bytes
threads = 12
"""

from __future__ import annotations

from loopxform.records import record

KIB = 1024


@record
class Copies:
    """Copies of at least `pieces_from` bytes go through pinned memory in pieces of `least_piece` to
    `piece` bytes, two for each of up to so many `threads`, which fill or empty one while the device
    copies the other. Inputs that results replace are kept by threads that would wait for the device
    otherwise: a byte for each `kept_part` that go there. A thread more gets its pieces for each
    `pin_from` bytes that were copied: as a whole these would take about as long as to pin the
    pieces. Devices that share the host's memory work on arrays of at least `lent_from` bytes where
    they are. The default is what an H100 with 16 cores of a Xeon does best
    (docs/experiments.md)."""

    pieces_from: int = 8192 * KIB
    least_piece: int = 256 * KIB
    piece: int = 2048 * KIB
    threads: int = 12
    kept_part: int = 2
    pin_from: int = 16384 * KIB
    lent_from: int = 64 * KIB
