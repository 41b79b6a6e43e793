"""Arrays of a part as long as what the function around it has allocated for them.

double *a = malloc(n * sizeof *a); ...          a has n elements (where it is null, the host
for (i = 0; i < m; i++) s += a[key[i]];         runs the loops)
"""

from __future__ import annotations

from dataclasses import replace

from loopxform.frontend.outline import Original, Part, Region, allocated_sizes
from loopxform.ir.nodes import Expr, Param, Struct
from loopxform.ir.visit import names


def with_allocated_extents(
    original: Original, part: Part, region: Region
) -> tuple[Part, Region] | None:
    """The part with the extents of such arrays, and its region, which passes the numbers that say
    them; None where there are none."""
    if region.whole or not any(map(_is_open, part.function.params)):
        return None
    passed = original.outlined(region).passed
    sizes = {a: e for a, e in allocated_sizes(original, region).items() if a not in passed}
    known = {a: e for a, e in sizes.items() if not set(names(e)) & passed.keys()}
    if not any(_is_open(p) and _object(p) in known for p in part.function.params):
        return None
    has = {p.name for p in part.function.params}
    asked = dict.fromkeys(n for e in known.values() for n in sorted(names(e)) if n not in has)
    fn = part.function
    if asked:
        region = original.standing(replace(region, sizes=tuple(asked)))
        more = original.lower([region])[region.name]
        if not isinstance(more, Part):
            return None
        fn = replace(fn, params=more.function.params, signature=more.function.signature)
    params = tuple(_declared(p, known) for p in fn.params)
    structs = tuple(_structs(s, known) for s in fn.structs)
    return replace(part, function=replace(fn, params=params, structs=structs)), region


def _is_open(p: Param) -> bool:
    """Whether nothing says how long an array is, or one of structs that it is a member of."""
    inside = p.part_of == _object(p) if p.is_member else not p.part_of
    return p.shape[:1] == (None,) and inside and not (p.pointer or p.rows)


def _object(p: Param) -> str:
    return p.name.partition(".")[0]


def _declared(p: Param, known: dict[str, Expr]) -> Param:
    if not _is_open(p) or _object(p) not in known:
        return p
    return replace(p, shape=(known[_object(p)], *p.shape[1:]), flat=False)


def _structs(s: Struct, known: dict[str, Expr]) -> Struct:
    if s.name not in known or s.shape != (None,):
        return s
    return replace(s, shape=(known[s.name],), flat=False)
