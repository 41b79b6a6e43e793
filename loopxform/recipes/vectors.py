"""Vectors between memories, offsets in 32 bits, and which work-items are neighbours."""

from __future__ import annotations

from loopxform.recipes.limits import Limits
from loopxform.recipes.sizes import Options
from loopxform.recipes.work import Work
from loopxform.transforms import Lanes, Narrow, Vectorise, Version
from loopxform.transforms.vectors import copies, widest


def vectors(w: Work, group: str, options: Options, limits: Limits | None) -> None:
    """Copies move `options.vector` elements at once where they may, in a version of the nest over
    groups where only the sizes say whether they may; offsets have 32 bits in a version where the
    sizes allow it (`options.narrow`); work-items stand in rectangles of `options.lanes`. What the
    options leave open is as `limits` has it, if these are given."""
    narrow, wanted = options.narrow, options.vector
    if limits is not None:
        narrow = limits.narrow if narrow is None else narrow
        wanted = limits.at_once if wanted is None else wanted
    first = group
    if narrow:
        w.stage("Offsets in 32 bits")
        first = f"{group}#1" if w.attempt(Narrow(group)) else group
    if wanted is not None and wanted > 1:
        w.stage("Vectors")
        w.attempt(Version(first, str(wanted)))
        for tile in dict.fromkeys(_tiles(w)):
            width = widest(w.fn, tile, wanted)
            while width > 1 and not w.attempt(Vectorise(tile, str(width))):
                width //= 2
    rows, columns = options.lanes or (0, 0)
    if rows:
        w.stage("Neighbours in a rectangle")
        w.attempt(Lanes(f"{group}*", str(rows), str(columns)))


def _tiles(w: Work) -> list[str]:
    return [f.copy.target for f in copies(w.fn) if f.copy.collective]
