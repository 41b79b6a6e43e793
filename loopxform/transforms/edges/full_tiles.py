"""Splitting at the last full tile: for (kk = lo; kk < hi; kk += T) S -> full tiles, then the rest.

    for (kk = lo; kk < lo + (hi-lo)/T*T; kk += T) S      every tile full: its checks are dropped
    for (kk = lo + (hi-lo)/T*T; kk < hi; kk += T) S      at most once, with the checks

What the step `split LOOP full-tiles` does (Cholewa-Madsen and Holst, section 4.2.2).
"""

from __future__ import annotations

from dataclasses import replace

from loopxform.errors import Obstacle
from loopxform.ir.affine import simplify, value_of
from loopxform.ir.nodes import Bin, For, Function
from loopxform.ir.visit import LoopSite, Path, after, replace_at
from loopxform.source import Origin
from loopxform.transforms.edges.bounds import operands
from loopxform.transforms.restructure.guards import drop_proven
from loopxform.transforms.sites import (
    ascending,
    fixed_header,
    no_wrap,
    unmapped,
    whole_loop,
)


def obstacles(fn: Function, site: LoopSite) -> tuple[Obstacle, ...]:
    """Why the last tile of a loop cannot be told from the others."""
    loop = site.loop
    if len(operands(loop.hi)) > 1 or (value_of(loop.step) or 0) == 1:
        return (
            Obstacle(
                "LX135",
                f"the loop over '{loop.var}' does not go over tiles of one range",
                loop.origin.loc,
                remedy="stripmine it first and split the loop over tiles",
            ),
        )
    return (
        *whole_loop(site),
        *ascending(site),
        *fixed_header(site),
        *unmapped(site, "split"),
        *no_wrap(fn, site),
    )


def at_last_full_tile(fn: Function, site: LoopSite, origin: Origin) -> Function:
    """The full tiles, without checks, then the rest; `origin` is that of both loops."""
    loop = site.loop
    length = Bin("-", loop.hi, loop.lo)
    middle = simplify(Bin("+", loop.lo, Bin("*", Bin("/", simplify(length), loop.step), loop.step)))
    main = replace(loop, hi=middle, origin=origin)
    rest = replace(loop, lo=middle, origin=origin)
    split = drop_proven(replace_at(fn, site.path, (main, rest)), site.path)
    return split if _needed(loop) else _without_rest(split, site.path)


def _needed(loop: For) -> bool:
    """Constant ranges that the tile divides have nothing left over."""
    length, step = value_of(Bin("-", loop.hi, loop.lo)), value_of(loop.step)
    return length is None or step is None or length % step != 0


def _without_rest(fn: Function, path: Path) -> Function:
    return replace_at(fn, after(path), ())
