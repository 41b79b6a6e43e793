"""Races: dependences that associated loops carry, of variables the construct shares.

    refuted  iff  such a dependence is proven, and no lock or order keeps its ends apart
    simd     a dependence over at least `safelen` iterations does no harm

A counter of an inner loop that is declared outside is shared too: each iteration sets it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import assert_never

from loopxform.analysis.dependence import Dependence, worst
from loopxform.analysis.deps import carried_among
from loopxform.analysis.openmp.claim import ORDER, Doubt, Finding
from loopxform.analysis.openmp.construct import Construct, is_loop, is_simd
from loopxform.analysis.openmp.cures import cure, needed_after
from loopxform.analysis.openmp.order import (
    carried,
    commutes,
    is_exclusive,
    is_in_order,
    waits_by_hand,
)
from loopxform.analysis.privatise import privacy
from loopxform.analysis.reductions import updates
from loopxform.analysis.region import region, visible
from loopxform.ir.nodes import Assign, Copy, Decl, For, Function, If, Opaque, Return, Stmt, Var
from loopxform.ir.visit import Path, at, replace_at, writes
from loopxform.source import Loc


def races(c: Construct) -> Iterator[Finding | Doubt]:
    """One result per variable that iterations may race on."""
    rows, beside = _shared_rows(c)
    found = [d for d in rows if not is_exclusive(c, d, atomic=d not in beside)]
    found.sort(key=lambda d: _steps(d) is None)
    told = set()
    for d in worst(found):
        told.add(d.array)
        yield _told(c, d)
    for d in _counters(c):
        if d.array not in told:
            told.add(d.array)
            yield _counter(c, d)


def lost(c: Construct) -> Iterator[Doubt]:
    """Copies that the region has of what the loop computes, and that is used after it."""
    written = writes(c.loop.body) & _region_copies(c)
    for name in sorted(_lost_counters(c) | {n for n in written if needed_after(c, n)}):
        text = f"the value of '{name}' after the loop may be used, and is that of a copy"
        yield Doubt("LX312", text, c.loop.origin.loc)


def _lost_counters(c: Construct) -> set[str]:
    """Counters of inner loops that the region makes private, and whose value is used after it."""
    copies = _region_copies(c) - c.private
    return {
        s.var
        for _, s in c.statements
        if isinstance(s, For) and s.var in copies and needed_after(c, s.var)
    }


def _region_copies(c: Construct) -> frozenset[str]:
    words = ("private", "firstprivate")
    return frozenset() if c.region is None else c.region.variables(*words)


def any_order(c: Construct) -> Iterator[Doubt]:
    """One result per variable on which iterations do not race, but whose value may depend on which
    of them comes first."""
    rows, beside = _shared_rows(c)
    told = {d.array for d in rows if not is_exclusive(c, d, atomic=d not in beside)}
    for d in rows:
        if d.array not in told and not commutes(c, d.array):
            told.add(d.array)
            text = f"'{d.array}' may depend on which iteration comes first: {_ends(d, may=True)}"
            yield Doubt(ORDER, text, d.sink.loc)


def _shared_rows(c: Construct) -> tuple[list[Dependence], frozenset[Dependence]]:
    """Dependences between iterations that may run at the same time, in no order, and those of them
    that no atomic protects."""
    rows, beside = carried(c)
    found = [d for d in rows if _is_shared(c, d) and not _far_apart(c, d)]
    return [d for d in found if not is_in_order(c, d)], beside


def thread_values(c: Construct) -> Iterator[Doubt]:
    """Variables of a thread that pass values between the iterations that it happens to run."""
    rows = carried_among(region(c.fn, c.path), c.of_the_thread)
    names = {d.array for d in rows if d.carrier in c.nest_paths} - c.private
    names |= _lost_counters(c)
    for name in sorted(names):
        plain = privacy(c.fn, c.path, name).exposed is None and not needed_after(c, name)
        lost = name in _region_copies(c) and needed_after(c, name)
        if not plain and (lost or updates(c.fn, c.path, name) is None):
            text = f"each thread has its own '{name}', so its value depends on who runs what"
            yield Doubt("LX311", text, c.loop.origin.loc)


def _is_shared(c: Construct, d: Dependence) -> bool:
    return not c.private_inside(d.array, d.source.path, d.sink.path)


def _far_apart(c: Construct, d: Dependence) -> bool:
    """Whether a simd loop never has both iterations in flight."""
    length = _safelen(c)
    steps = _steps(d)
    return length is not None and steps is not None and steps >= length


def _safelen(c: Construct) -> int | None:
    clause = c.directive.clause("safelen")
    in_lanes = c.is_simd_only or (c.directive.has("simd") and c.has_one_thread)
    return clause.number if clause and in_lanes and len(c.nest) == 1 else None


def _told(c: Construct, d: Dependence) -> Finding | Doubt:
    unclear = _why_unclear(c, d) if d.exact else None
    if d.exact and unclear is None:
        text = f"race on '{d.array}': {_ends(d)}"
        return Finding("LX300", text, d.sink.loc, d.array, d.witness, _cure(c, d))
    if d.exact:
        return Doubt("LX310", f"'{d.array}' is shared: {_ends(d)}; {unclear}", d.sink.loc)
    text = f"a race on '{d.array}' could not be excluded: {_ends(d, may=True)}"
    return Doubt("LX310", text, d.sink.loc)


def _why_unclear(c: Construct, d: Dependence) -> str | None:
    """Why a dependence that is proven may be no race."""
    if waits_by_hand(c):
        return "the order that 'ordered depend' gives is not modelled"
    if c.is_simd_only and c.directive.clause("safelen") and _steps(d) is None:
        return "over how many iterations is not a constant"
    return None


def _cure(c: Construct, d: Dependence) -> str | None:
    steps = _steps(d)
    if c.is_simd_only and len(c.nest) == 1 and steps is not None and steps > 1:
        return f"safelen({steps})"
    return cure(c, d.array)


def _steps(d: Dependence) -> int | None:
    """How many iterations of its loop a dependence spans, where that is constant."""
    return d.distance[d.level or 0]


def _ends(d: Dependence, *, may: bool = False) -> str:
    """`line 8 writes it in one iteration, line 9 reads it in another`."""
    ending, word = ("", "may ") if may else ("s", "")
    first = f"{word}{'read' if d.kind == 'anti' else 'write'}{ending}"
    second = f"{word}{'read' if d.kind == 'flow' else 'write'}{ending}"
    a, b = _line(d.source.loc), _line(d.sink.loc)
    if a == b and first == second:
        return f"{a} {first} it in one iteration and in another"
    if a == b:
        return f"{a} {first} it in one iteration and {second} it in another"
    return f"{a} {first} it in one iteration, {b} {second} it in another"


def _line(loc: Loc | None) -> str:
    return f"line {loc.line}" if loc else "a statement"


# ---------------------------------------------------------------- counters of inner loops


def _counters(c: Construct) -> list[Dependence]:
    """Dependences between the assignments by which inner loops start their shared counters."""
    outside = visible(c.fn, c.path)
    shared = {
        s.var
        for p, s in c.statements
        if isinstance(s, For) and s.var in outside and not _is_private_counter(c, p, s.var)
    }
    if not shared:
        return []
    changed = _with_starts(c.fn, c.path, frozenset(shared))
    rows = carried_among(region(changed, c.path), lambda name, _: name in shared)
    carriers = _carriers(changed, c)
    return worst([d for d in rows if d.carrier in carriers])


def _carriers(changed: Function, c: Construct) -> tuple[Path, ...]:
    """Where the associated loops are once the starts are written before inner loops."""
    out = [c.path]
    for inner in c.nest[1:]:
        body = at(changed, out[-1])
        assert isinstance(body, For)
        n = next(n for n, s in enumerate(body.body) if isinstance(s, For) and s.var == inner.var)
        out.append((*out[-1], n))
    return tuple(out)


def _is_private_counter(c: Construct, path: Path, name: str) -> bool:
    if name in c.private or c.private_inside(name, path):
        return True
    if any(is_loop(d) and not is_simd(d) and path in d.paths for d in c.inside):
        return True
    return c.of_the_thread(name, visible(c.fn, c.path)[name].decl)


def _with_starts(fn: Function, path: Path, counters: frozenset[str]) -> Function:
    """`j = lo;` written before every loop over a shared counter j below `path`."""
    loop = at(fn, path)
    assert isinstance(loop, For)
    return replace_at(fn, path, (replace(loop, body=_started(loop.body, counters)),))


def _started(body: tuple[Stmt, ...], counters: frozenset[str]) -> tuple[Stmt, ...]:
    out: list[Stmt] = []
    for s in body:
        if isinstance(s, For) and s.var in counters:
            target = Var(s.var, origin=s.origin)
            out.append(Assign(target, s.lo, label=f"for {s.var}", origin=s.origin))
        out.append(_inside(s, counters))
    return tuple(out)


def _inside(s: Stmt, counters: frozenset[str]) -> Stmt:
    match s:
        case For() | Opaque():
            return replace(s, body=_started(s.body, counters))
        case If():
            return replace(s, then=_started(s.then, counters), orelse=_started(s.orelse, counters))
        case Assign() | Decl() | Copy() | Return():
            return s
        case _:
            assert_never(s)


def _counter(c: Construct, d: Dependence) -> Finding | Doubt:
    text = f"race on '{d.array}': it counts an inner loop, but is declared outside and shared"
    if any(is_simd(x) and d.sink.path[:-1] == p[:-1] for x in c.inside for p in x.paths):
        text = (
            f"'{d.array}' is shared, and the simd loops that it counts leave their last value in it"
        )
        return Doubt("LX310", text, d.sink.loc)
    if d.exact:
        return Finding("LX301", text, d.sink.loc, d.array, d.witness, cure(c, d.array))
    return Doubt("LX310", text, d.sink.loc)
