"""Loops whose subscripts are counted along, judged where these are in closed form.

    for (y...) { q = out + y*w; for (x...) *q++ = f(y, x); }     the loop over y is parallel

As written the elements are `out[q]`, of which nothing is known; with the loops as they are meant
they are `out[y*w + x]`. The elements of an iteration are the same, so what holds of the arrays
there holds here, while scalars are what they are in the loop as it is written: one that counts
through all iterations still orders them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from loopxform.analysis.spelling import without_subscripts
from loopxform.analysis.verdict import ENOUGH, Answer, LoopVerdict, judge
from loopxform.ir.nodes import Function
from loopxform.ir.typing import symbols
from loopxform.ir.visit import declared
from loopxform.source import Loc


def counted(
    verdicts: Sequence[LoopVerdict],
    fn: Function,
    several: Iterable[object],
    seconds: float | None = None,
) -> tuple[LoopVerdict, ...]:
    """The verdicts, better ones for loops of which only arrays are unknown. `several` are places of
    more than one loop, of which nothing can be told."""
    kept = _arrays(fn)
    left = {
        (v.loc, v.var): v
        for v in verdicts
        if v.parallel == "unknown" and v.left and kept.issuperset(v.left)
        if v.loc is not None and v.loc not in several
    }
    if not left:
        return tuple(verdicts)
    from loopxform.api.loops_as_meant import with_loops_as_meant  # loads steps

    meant = with_loops_as_meant(fn)
    if meant is fn:
        return tuple(verdicts)
    places = frozenset(v.loc for v in left.values() if v.loc is not None)
    found = {(v.loc, v.var): v for v in judge(meant, seconds, only=places)}
    own = symbols(fn).keys()
    better: dict[tuple[Loc | None, str], LoopVerdict] = {
        key: _joined(left[key], v, symbols(meant).keys() - own, kept)
        for key, v in found.items()
        if key in left and v.parallel in ENOUGH["reduction"]
    }
    return tuple(better.get((v.loc, v.var), v) if v.left else v for v in verdicts)


def _arrays(fn: Function) -> frozenset[str]:
    objects = (p.name for p in fn.objects if p.array)
    return frozenset([*objects, *(n for n, d in declared(fn.body).items() if d.shape)])


def _joined(
    written: LoopVerdict, closed: LoopVerdict, made: Iterable[str], arrays: frozenset[str]
) -> LoopVerdict:
    """What a loop is by its scalars as they are `written`, and by its arrays in `closed` form,
    whose subscripts may have variables that no text has."""
    reductions = (
        *written.reductions,
        *(r for r in without_subscripts(closed.reductions, made) if r not in written.reductions),
    )
    private = tuple(dict.fromkeys((*written.private, *(n for n in closed.private if n in arrays))))
    copies = tuple(dict.fromkeys((*written.copies, *(n for n in closed.copies if n in arrays))))
    result = replace(
        written,
        private=private,
        copies=copies,
        reductions=reductions,
        assumes=tuple(dict.fromkeys((*written.assumes, *without_subscripts(closed.assumes, made)))),
        reasons=(),
        left=(),
        idioms=(),
    )
    answer: Answer = "privatizable" if result.shared else "yes"
    return replace(result, parallel="reduction" if reductions else answer)
