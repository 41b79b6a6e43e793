"""Parameters that loops count with, as sizes that stay.

    m = n; for (n = m - 1; n > -1; n--) s += a[m - 1 - n]
        ->  for (k = n - 1; k > -1; k--) s += a[n - 1 - k]

So reads `while (n-- > 0) s += *a++`. Nothing but counting loops sets the parameter, and nobody asks
what they leave in it: with counters of their own it keeps its value, and a copy is the same.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from loopxform.ir.names import fresh
from loopxform.ir.nodes import Assign, Decl, For, Function, If, Param, Stmt, Var
from loopxform.ir.renaming import rename
from loopxform.ir.visit import declared, map_body, names, substitute_body, walk, writes


def with_kept_parameters(fn: Function) -> Function:
    """The function with counters of their own for such loops; itself where there are none."""
    if not all(isinstance(s, Assign | If | For | Decl) for _, s in walk(fn.body)):
        return fn
    counts = [p for p in fn.params if not (p.shape or p.pointer) and _only_counts(fn, p.name)]
    for p in counts:
        fn = _without_copies(_with_own_counters(fn, p.name), p)
    return fn


def _only_counts(fn: Function, name: str) -> bool:
    """Whether loops count with a parameter, and nothing else changes it or looks at what they leave
    in it."""
    every = [s for _, s in walk(fn.body)]
    if any(isinstance(s, Assign) and name in writes((s,)) for s in every):
        return False
    counting = [s for s in every if isinstance(s, For) and s.var == name]
    return bool(counting) and not any(
        s.live_out or s.parallel or name in _header(s) or name in _counters(s.body)
        for s in counting
    )


def _counters(body: tuple[Stmt, ...]) -> frozenset[str]:
    return frozenset(s.var for _, s in walk(body) if isinstance(s, For))


def _header(s: For) -> frozenset[str]:
    return names(s.lo) | names(s.hi) | names(s.step)


def _with_own_counters(fn: Function, name: str) -> Function:
    own = fresh(fn, name)

    def counted(s: Stmt) -> tuple[Stmt, ...]:
        return rename((s,), {name: own}) if isinstance(s, For) and s.var == name else (s,)

    return replace(fn, body=map_body(fn.body, counted))


def _without_copies(fn: Function, p: Param) -> Function:
    """The function without scalars that are set once, in front of all loops, to a parameter that
    nothing sets."""
    own = {n: d for n, d in declared(fn.body).items() if not d.shape and not d.exposed}
    times = Counter(n for _, s in walk(fn.body) for n in _set(s))
    for s in fn.body:
        match s:
            case Assign(Var(name=copy), Var(name=of), "") if (
                of == p.name and copy in own and times[copy] == 1 and own[copy].type == p.type
            ):
                rest = (x for x in fn.body if x != s and not _declares(x, copy))
                fn = replace(fn, body=substitute_body(tuple(rest), {copy: Var(of)}))
            case _:
                pass
    return fn


def _set(s: Stmt) -> frozenset[str]:
    match s:
        case For():
            return frozenset((s.var,))
        case Assign():
            return writes((s,))
        case _:
            return frozenset()


def _declares(s: Stmt, name: str) -> bool:
    return isinstance(s, Decl) and s.name == name
