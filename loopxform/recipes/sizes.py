"""The parameters of tiling, and what they cost: threads, local memory, registers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Variant = Literal["register", "block", "naive"]
NAMES = ("Ty", "Tx", "Tk", "Ry", "Rx")


@dataclass(frozen=True)
class Tiles:
    """The five parameters of seed 000: group shape Ty x Tx, sequential tile Tk, register tile
    Ry x Rx (elements per work-item)."""

    Ty: int = 16
    Tx: int = 16
    Tk: int = 16
    Ry: int = 8
    Rx: int = 4

    def named(self, variant: Variant) -> dict[str, int]:
        """The tile sizes the steps of a variant mention."""
        sizes = {"Ty": self.Ty, "Tx": self.Tx, "Tk": self.Tk, "Ry": self.Ry, "Rx": self.Rx}
        wanted = {"register": "Ty Tx Tk Ry Rx", "block": "Ty Tx Tk", "naive": "Ty Tx"}[variant]
        return {name: sizes[name] for name in wanted.split()}


MARGIN = 16
"""Registers for addresses, counters and temporaries."""


@dataclass(frozen=True)
class Demand:
    """What a tiled nest needs, as functions of the tile sizes: bytes of each element staged per
    row tile (varying with the row loop) and per column tile, and 32-bit words per accumulator."""

    rows: tuple[int, ...] = (4,)
    columns: tuple[int, ...] = (4,)
    words: int = 1

    def local_bytes(self, t: Tiles) -> int:
        return t.Tk * (sum(self.rows) * t.Ty * t.Ry + sum(self.columns) * t.Tx * t.Rx)

    def registers(self, t: Tiles) -> int:
        return self.words * (t.Ry + t.Rx + t.Ry * t.Rx) + MARGIN
