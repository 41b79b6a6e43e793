"""What the arrays of a nest take in memory."""

from __future__ import annotations

from loopxform.ir.affine import value_of
from loopxform.ir.nodes import Decl


def fixed_bytes(decl: Decl) -> int | None:
    """What an array takes, where that is a number."""
    total = decl.type.bytes
    for extent in decl.shape:
        number = value_of(extent)
        if number is None:
            return None
        total *= number
    return total
