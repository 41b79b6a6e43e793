"""Loops of a work-item whose iterations are the lanes of vectors, on devices that run the
work-items of a group in turn."""

from __future__ import annotations

from loopxform.ir.nodes import Assign, For, Function
from loopxform.ir.typing import symbols, type_of
from loopxform.ir.visit import loops_around, resolve, walk
from loopxform.recipes.deriving import Work
from loopxform.transforms import Simd


def in_vectors(w: Work, var: str, size: int) -> None:
    """Has the compiler compute the loops over `var` that other loops of a work-item hold in vectors
    of `size` bytes, where that is legal: a core fetches ahead what is read a few lines at a
    time."""
    for n, site in enumerate(resolve(w.fn, var), 1):
        around = loops_around(w.fn, site.path)
        if around and not (around[-1].parallel or around[-1].level):
            w.attempt(Simd(f"{var}#{n}", str(max(2, size // widest_set(w.fn, site.loop)))))


def widest_set(fn: Function, loop: For) -> int:
    """The bytes of the widest scalar or element that a loop sets."""
    types = symbols(fn)
    set_here = (type_of(s.target, types).bytes for _, s in walk(loop.body) if isinstance(s, Assign))
    return max(set_here, default=4)
