"""Vectors of global memory, as kernels move them."""

from __future__ import annotations

from collections.abc import Sequence

LOAD = "LX_VECTOR"
STORE = "LX_STORE"
LOAD_WORDS = "LX_VECTOR_AS"
"""Read and write a vector of global memory (templates/kernels.cl.j2)."""
WORDS = {8: "uint2", 16: "uint4"}
"""Of 32 bits: how vectors of more than four bytes, or 16 bits, are moved, by their bytes."""
STORE_WORDS = {
    (1, 8): "LX_STORE_BYTES_8",
    (1, 16): "LX_STORE_BYTES_16",
    (2, 8): "LX_STORE_SHORTS_8",
}
"""Write them, by the bytes of an element and the number of elements."""


def loaded_vector(kind: str, width: int, place: str) -> str:
    """A vector from memory."""
    size = _NARROW.get(kind.removesuffix(str(width)), 0) * width
    if width > 4 and size in WORDS:
        return f"{LOAD_WORDS}({kind}, {width}, {place}, {WORDS[size]})"
    return f"{LOAD}({kind}, {width}, {place})"


def stored_vector(kind: str, place: str, elements: Sequence[str]) -> str:
    """The statement that stores a vector of elements of a kind in memory."""
    width, values = len(elements), ", ".join(elements)
    if store := STORE_WORDS.get((_NARROW.get(kind, 0), width)):
        return f"{store}({kind}, {place}, {values});"
    return f"{STORE}({kind}{width}, {width}, {place}, ({kind}{width})({values}));"


_NARROW = {"char": 1, "uchar": 1, "short": 2, "ushort": 2}
"""Bytes."""
