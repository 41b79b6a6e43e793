"""Vectors of global memory, as kernels move them."""

from __future__ import annotations

from collections.abc import Sequence

LOAD = "LX_VECTOR"
STORE = "LX_STORE"
LOAD_WORDS = "LX_VECTOR_AS"
STORE_WORDS = "LX_STORE_AS"
WORDS = {8: "uint2", 16: "uint4"}
"""Of 32 bits: how vectors of more than four bytes, or 16 bits, are moved, by their bytes."""
"""Read and write a vector of global memory (templates/kernels.cl.j2)."""


def loaded_vector(kind: str, width: int, place: str) -> str:
    """A vector from memory."""
    words = _words(kind, width)
    return f"{LOAD_WORDS if words else LOAD}({kind}, {width}, {place}{words})"


def stored_vector(kind: str, place: str, elements: Sequence[str]) -> str:
    """The statement that stores a vector of elements of a kind in memory."""
    width, values = len(elements), ", ".join(elements)
    vector = f"{kind}{width}"
    if words := _words(vector, width):
        return f"{STORE_WORDS}({kind}, {width}, {place}{words}, {values});"
    return f"{STORE}({vector}, {width}, {place}, ({vector})({values}));"


def _words(kind: str, width: int) -> str:
    """The argument that says what narrow elements are moved as; "" for others."""
    size = _NARROW.get(kind.removesuffix(str(width)), 0) * width
    return f", {WORDS[size]}" if width > 4 and size in WORDS else ""


_NARROW = {"char": 1, "uchar": 1, "short": 2, "ushort": 2}
