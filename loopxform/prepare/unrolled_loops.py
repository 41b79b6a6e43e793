"""Loops that were unrolled by hand, as the loops that were meant, with the rest of the iterations.

    for (i = 0; i + 3 < n; i += 4) { S(i); S(i+1); S(i+2); S(i+3); }  for (; i < n; i++) S(i)
        ->  for (i = 0; i < n; i++) S(i)

The others may come first (`for (i = 0; i < n % 4; i++) S(i)`, reference BLAS).
The statements run in the order of the text: sums that are computed in several variables stay as
they are.
"""

from __future__ import annotations

from loopxform.ir.nodes import Function
from loopxform.ir.visit import Path, loops, resolve
from loopxform.transforms import Derivation, Reroll, Unsplit
from loopxform.transforms.restructure.reroll import repetitions


def rerolled(derivation: Derivation) -> Derivation:
    """Each loop whose body is that of several iterations with one of them, and with the loop behind
    it, or in front of it, that runs the others."""
    done, left = derivation.titled("Unrolled loops rolled up again"), 0
    while len(places := _unrolled(done.function)) > left:
        path = places[left]
        rolled = _tried(done, path, Reroll)
        if rolled is None:
            left += 1
            continue
        whole = _tried(rolled, path, Unsplit)
        done = whole or _with_loop_in_front(rolled, path) or rolled
    return derivation if done.function == derivation.function else done


def _with_loop_in_front(derivation: Derivation, path: Path) -> Derivation | None:
    """With a loop as the rest of the one that stands in front of it."""
    *around, n = path
    before = (*around, n - 1 if n >= 0 else n + 1)
    in_front = any(s.path == before for s in loops(derivation.function))
    return _tried(derivation, before, Unsplit) if in_front and n not in (0, -1) else None


def _unrolled(fn: Function) -> list[Path]:
    return [s.path for s in loops(fn) if repetitions(s.loop) > 1]


def _tried(derivation: Derivation, path: Path, kind: type[Reroll | Unsplit]) -> Derivation | None:
    """With the step of the loop at `path`, where it is legal."""
    step = kind(_reference(derivation.function, path))
    return None if step.check(derivation.function) else derivation.then(step)


def _reference(fn: Function, path: Path) -> str:
    """What steps call the loop at `path`."""
    var = next(s.loop.var for s in loops(fn) if s.path == path)
    same = [s.path for s in resolve(fn, var)]
    return var if len(same) == 1 else f"{var}#{same.index(path) + 1}"
