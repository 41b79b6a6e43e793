"""The usual case of what is touched of an array, without isl: every part is the same kind of box
`0 <= x < bound`, with one bound per dimension, under the same condition."""

from __future__ import annotations

from collections.abc import Sequence

from loopxform.analysis.conjunctions import negated
from loopxform.analysis.linear import Conj, Constraint, Lin, conj_names, plus, times
from loopxform.analysis.system import eliminate, feasible

Box = tuple[tuple[Lin, ...], tuple[Constraint, ...]]
"""Exclusive upper bounds, and the condition on parameters."""


def simple_box(parts: Sequence[Conj], index: Sequence[str], params: Sequence[str]) -> Box | None:
    """The box that each of the parts is, over these subscripts; its last corner is touched."""
    boxes = [_box(part, index, params) for part in parts]
    first = boxes[0]
    return first if all(b == first for b in boxes) else None


def _box(part: Conj, index: Sequence[str], params: Sequence[str]) -> Box | None:
    """What a part is, if it is a box whose corner it contains."""
    allowed = frozenset(index) | frozenset(params)
    if not conj_names(part) <= allowed:
        return None
    tops: list[Lin] = []
    for name in index:
        bounds = [_bound(c, name) for c in part if name in c.lin]
        found = [b for b in bounds if b is not None]
        if len(found) != 1:
            return None
        tops.append(found[0])
    corner: Conj = part
    for name, top in zip(index, tops):
        if any(k in index for k in top):
            return None
        corner = tuple(Constraint(c.eq, _put(c.lin, name, top)) for c in corner)
    when = eliminate(part, frozenset(params))
    if when is None or not conj_names(when) <= frozenset(params):
        return None
    for c in corner:
        if any(feasible((*when, n)) for n in negated(c)):
            return None
    uppers = tuple(plus(top, {"": 1}) for top in tops)
    return uppers, tuple(sorted(when, key=lambda c: sorted(c.lin.items())))


def _bound(c: Constraint, name: str) -> Lin | None:
    """The greatest value a constraint leaves to `name`, if it bounds it above (or fixes it)."""
    a = c.lin[name]
    rest = {k: v for k, v in c.lin.items() if k != name}
    if c.eq and abs(a) == 1:
        return times(rest, -a)
    return rest if a == -1 else None


def _put(lin: Lin, name: str, value: Lin) -> Lin:
    c = lin.get(name)
    if c is None:
        return lin
    return plus({k: v for k, v in lin.items() if k != name}, value, c)
