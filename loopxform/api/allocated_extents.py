"""Arrays of a part as long as what the function around it has allocated for them.

double *a = malloc(n * sizeof *a); ...          a has n elements (where it is null, the host
for (i = 0; i < m; i++) s += a[key[i]];         runs the loops)
"""

from __future__ import annotations

from dataclasses import replace

from loopxform.frontend.outline import Original, Part, Region, allocated_sizes
from loopxform.ir.nodes import Expr, Param
from loopxform.ir.visit import names


def with_allocated_extents(original: Original, part: Part, region: Region) -> Part:
    """The part with the extents of such arrays, as far as its parameters say them; the same part
    where there are none."""
    fn = part.function
    if region.whole or not any(_is_open(p) for p in fn.params):
        return part
    passed = original.outlined(region).passed
    numbers = {p.name for p in fn.params if not p.shape and p.type.is_integer} - passed.keys()
    sizes = allocated_sizes(original, region)
    known = {a: e for a, e in sizes.items() if a not in passed and set(names(e)) <= numbers}
    if not any(_is_open(p) and p.name in known for p in fn.params):
        return part
    params = tuple(_declared(p, known) for p in fn.params)
    return replace(part, function=replace(fn, params=params))


def _is_open(p: Param) -> bool:
    return p.shape == (None,) and not (p.pointer or p.rows or p.is_member)


def _declared(p: Param, known: dict[str, Expr]) -> Param:
    return replace(p, shape=(known[p.name],), flat=False) if _is_open(p) and p.name in known else p
