"""What loops leave in their variables, as numbers that are computed from their bounds.

    for (k = 0; k + 1 < n; k += 2) S(k)   if (k < n) T(k)
        ->  for (k = 0; k + 1 < n; k += 2) S(k)   if (n/2*2 < n) T(n/2*2),   where n >= 0

What follows a loop then says which elements it reads, and nothing asks for the variable. That the
loop is not over before it begins is asked of the caller, where only arguments say so. Loops that
are unrolled keep what they leave for the loop behind them (`unrolled_loops`).
"""

from __future__ import annotations

from dataclasses import replace

from loopxform.analysis.fusion import next_statement
from loopxform.analysis.privatise import privacy
from loopxform.ir.affine import poly, to_expr, value_of
from loopxform.ir.nodes import Assign, Bin, Const, Decl, Expr, For, Function, Opaque, Stmt, Var
from loopxform.ir.typing import symbols, type_of
from loopxform.ir.visit import (
    LoopSite,
    Path,
    after,
    loops,
    map_exprs,
    names,
    replace_at,
    substitute,
    walk,
    writes,
)
from loopxform.transforms.edges.bounds import counted_without_overflow, trips_to
from loopxform.transforms.restructure.reroll import repetitions
from loopxform.transforms.sites import ends_early, fixed_header


def with_last_values(fn: Function, fixed: frozenset[str]) -> Function:
    """The function without reads of variables behind the loops that count with them; `fixed` are
    the scalars that keep their value during a call."""
    for path in [s.path for s in loops(fn) if s.loop.live_out]:
        site = next(s for s in loops(fn) if s.path == path)
        if repetitions(site.loop) == 1 and _is_counted(fn, site):
            fn = _replaced(fn, site, fixed) or fn
    return fn


def _is_counted(fn: Function, site: LoopSite) -> bool:
    """Whether the bounds of a loop say what it leaves."""
    loop, types = site.loop, symbols(fn)
    header = [loop.type, *(type_of(e, types) for e in (loop.lo, loop.hi))]
    signed = all(t.is_integer and not t.is_unsigned and t.bytes >= loop.type.bytes for t in header)
    return (
        signed
        and value_of(loop.step) is not None
        and ends_early(site) is None
        and not fixed_header(site)
        and counted_without_overflow(loop, loop.hi)
    )


def _replaced(fn: Function, site: LoopSite, fixed: frozenset[str]) -> Function | None:
    """The function with the number in place of the variable of one loop, as far as that is set
    again; None where others may read it then."""
    loop = site.loop
    count = trips_to(loop, loop.hi)
    if count is None:
        return None
    least = () if count.value is not None else (Bin("<=", Const(0), to_expr(count)),)
    asked = least if names(to_expr(count)) <= fixed else ()
    trips = count if asked else poly(Bin("max", to_expr(count), Const(0)))
    last = to_expr(poly(loop.lo) + poly(loop.step) * trips)
    found = _behind(fn, site.path, loop.var, last)
    if found is None:
        return None
    left = privacy(found, site.path, loop.var)
    if left.live or left.caller:
        return None
    new = tuple(c for c in asked if c not in fn.assumes)
    done = replace_at(found, site.path, (replace(loop, live_out=False),))
    return replace(done, assumes=(*fn.assumes, *new))


def _behind(fn: Function, path: Path, name: str, value: Expr) -> Function | None:
    """The function with a value in place of a variable in the statements behind one, up to that
    which sets it; None where these may change what the value is made of, or set it now and then."""
    place = path
    while (s := next_statement(fn, place)) is not None:
        place = after(place)
        match s:
            case For(var=var, lo=lo) if var == name:
                return replace_at(fn, place, (replace(s, lo=substitute(lo, {name: value})),))
            case Assign(Var(target), right, op) if target == name:
                right = substitute(right, {name: value})
                new: Stmt = replace(s, value=Bin(op, value, right) if op else right, op="")
                return replace_at(fn, place, (new,))
        inside = [x for _, x in walk((s,))]
        changed = writes((s,)) | {x.var for x in inside if isinstance(x, For)}
        declared = {x.name for x in inside if isinstance(x, Decl)}
        opaque = any(isinstance(x, Opaque) for x in inside)
        if opaque or (changed | declared) & (names(value) | {name}):
            return None
        (new,) = map_exprs((s,), lambda e: value if e == Var(name) else e)
        fn = replace_at(fn, place, (new,))
    return fn
