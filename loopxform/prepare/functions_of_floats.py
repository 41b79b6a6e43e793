"""Quotients, roots and functions of floats in float, where the source permits as much."""

from __future__ import annotations

from loopxform.floating_point import FloatingPoint
from loopxform.ir.permitted import permitted
from loopxform.ir.visit import loops, loops_around
from loopxform.transforms import Derivation, NarrowFunctions


def of_floats(derivation: Derivation, fp: FloatingPoint) -> Derivation:
    """Loops that need not compute in double what only ends in floats."""
    done = derivation.titled("Functions of floats")
    for site in loops(derivation.function):
        if loops_around(derivation.function, site.path):
            continue
        if not permitted(fp, derivation.function, (site.loop,)).approximate:
            continue
        step = NarrowFunctions(site.loop.var)
        done = done.then(step) if not step.check(done.function) else done
    return done
