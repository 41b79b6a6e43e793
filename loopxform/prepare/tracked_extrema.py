"""Loops that keep the place of an extremum, with the extremum itself: then they are reductions.

for k: if (a[k] > a[best]) best = k;   ->   step `track-extremum`
"""

from __future__ import annotations

from loopxform.ir.visit import loops, resolve
from loopxform.transforms import Derivation, TrackExtremum
from loopxform.transforms.reductions.track_extremum import place_kept


def tracked(derivation: Derivation) -> Derivation:
    """Each loop for which that is legal, with the extremum whose place it keeps."""
    fn = derivation.function
    wanted = [s.loop.var for s in loops(fn) if place_kept(fn, s.loop) is not None]
    done = derivation.titled("Extrema whose places loops keep") if wanted else derivation
    for var in wanted:
        if len(resolve(done.function, var)) == 1:
            done = done.optional(TrackExtremum(var))[0]
    return done
