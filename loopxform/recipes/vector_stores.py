"""Results that are stored in vectors, wherever they are known to lie in memory as some."""

from __future__ import annotations

from loopxform.ir.typing import symbols
from loopxform.ir.visit import Path, loops, resolve
from loopxform.recipes.deriving import Work
from loopxform.transforms import StoreVectors
from loopxform.transforms.latency.store_vectors import in_memory, stored
from loopxform.transforms.latency.vectors import VECTOR_BYTES


def store_results(w: Work, group: str, width: int) -> None:
    """Stores what the nest of the loop `group` computes in vectors of at most `width` elements."""
    for path, array in _stored(w, group):
        most = min(width, VECTOR_BYTES // symbols(w.fn)[array].bytes)
        w.widest(StoreVectors, w.ref(path), most)


def _stored(w: Work, group: str) -> list[tuple[Path, str]]:
    """The unrolled loops that store results in an array that is known to lie in memory."""
    (nest,) = resolve(w.fn, group)
    depth = len(nest.path)
    inside = (s for s in loops(w.fn) if s.loop.unroll and s.path[:depth] == nest.path)
    arrays = ((s.path, x.target.array) for s in inside if (x := stored(s.loop)) is not None)
    return [(path, array) for path, array in arrays if in_memory(w.fn, array)]
