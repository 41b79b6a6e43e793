"""Arrays of bytes and of 16 bits that loops reduce to, in copies that devices can update."""

from __future__ import annotations

from loopxform.analysis.reductions import reductions
from loopxform.ir.nodes import For
from loopxform.ir.types import UINT
from loopxform.ir.typing import symbols
from loopxform.ir.visit import walk
from loopxform.transforms import Derivation, WidenUpdates


def widened(derivation: Derivation) -> Derivation:
    """The program with wide copies of narrow arrays for the outermost loops that reduce to elements
    of them, where that is legal."""
    found = derivation.titled("Wide copies of what is updated by key")
    for array, var in _narrow(derivation):
        found, _ = found.optional(WidenUpdates(array, var))
    return found if found.function != derivation.function else derivation


def _narrow(derivation: Derivation) -> list[tuple[str, str]]:
    """The arrays, and the loops."""
    fn = derivation.function
    types, out = symbols(fn), list[tuple[str, str]]()
    for path, s in walk(fn.body):
        if isinstance(s, For) and len(path) == 1:
            wide = (r for r in reductions(fn, path) if not r.fixed)
            out += [(r.array, s.var) for r in wide if types[r.array].bytes < UINT.bytes]
    return list(dict.fromkeys(out))
