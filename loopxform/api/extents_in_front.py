"""Arrays of a loop that returns, as long as loops in front of it say.

for (i = 0; i < n; i++) most = fmaxf(most, a[i]);     a has n elements: a[n - 1] was read
for (i = 0; i < n; i++) if (a[i] == most) return i;
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from loopxform.analysis.extent import Extent, explain
from loopxform.frontend.outline import Original, Part, Region, loops_in_front
from loopxform.ir.affine import poly
from loopxform.ir.nodes import Bin, Const, Expr, Param, Var
from loopxform.ir.visit import names


def with_extents_in_front(original: Original, part: Part, region: Region) -> Part:
    """The part with the extents of pointers whose elements loops in front have touched."""
    fn = part.function
    lacking = {p.name for p in fn.params if p.shape == (None,) and not p.pointer}
    if not lacking:
        return part
    passed = original.outlined(region).passed
    numbers = {p.name for p in fn.params if not p.shape and p.type.is_integer} - passed.keys()
    known: dict[str, Expr] = {}
    asked: list[Expr] = []
    for name, end, when in _ends(original, region, lacking - passed.keys(), numbers):
        if name not in known:
            known[name] = end
            asked += when
    params = tuple(_declared(p, known[p.name]) if p.name in known else p for p in fn.params)
    return replace(part, function=replace(fn, params=params, assumes=(*fn.assumes, *asked)))


def _declared(p: Param, end: Expr) -> Param:
    return replace(p, shape=(end,), flat=False)


def _ends(
    original: Original, region: Region, arrays: set[str], numbers: set[str]
) -> Iterator[tuple[str, Expr, tuple[Expr, ...]]]:
    """Of some arrays the ends, and what the host has to ask for them to be there."""
    for before, kept in loops_in_front(original, region):
        own = {p.name for p in before.params if p.shape == (None,) and not p.pointer}
        for name in sorted(arrays & own & kept):
            extent = explain(before, name)
            if not isinstance(extent, Extent) or len(extent.upper) != 1 or not extent.corner:
                continue
            (end,), when = extent.upper, _asked(extent)
            used = {x for e in when for x in names(e)}
            if isinstance(end, Var) and {end.name, *used} <= numbers & kept:
                yield name, end, when


def _asked(extent: Extent) -> tuple[Expr, ...]:
    """The condition under which the last element is touched, where it says more than that there is
    one: no iteration asks for elements of none."""
    (end,) = extent.upper
    match extent.when:
        case None:
            return ()
        case Bin(">=", left, right) if poly(left) - poly(right) == poly(end) - poly(Const(1)):
            return ()
        case when:
            return (when,)
