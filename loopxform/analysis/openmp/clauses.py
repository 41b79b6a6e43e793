"""The clauses of a loop, one question each: does the program keep its meaning?

private(x)       x is written before it is read in each iteration, and not used after the loop
firstprivate(x)  as private, or never written
lastprivate(x)   as private, and every iteration writes x
reduction(op:x)  the loop does nothing with x but update it with op
linear(x: c)     each iteration advances x by c, once
collapse(n)      n loops perfectly nested, their bounds not depending on each other
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from loopxform.analysis.dependence import Dependence
from loopxform.analysis.deps import dependences
from loopxform.analysis.liveness import first_use
from loopxform.analysis.openmp.claim import Doubt, Finding
from loopxform.analysis.openmp.construct import Construct, touched_by
from loopxform.analysis.openmp.cures import needed_after
from loopxform.analysis.openmp.linear import advance
from loopxform.analysis.openmp.values import may_stay, surely_read_after, surely_read_first
from loopxform.analysis.privatise import privacy
from loopxform.analysis.reductions import OPERATORS, updates
from loopxform.analysis.region import region, visible
from loopxform.analysis.scope import order
from loopxform.analysis.system import feasible
from loopxform.ir.nodes import Cast, Expr, For, Load, Var
from loopxform.ir.visit import map_expr, map_exprs, names, reads, replace_at, writes
from loopxform.source import Loc

Told = Iterator[Finding | Doubt]


_OPERATORS = OPERATORS | frozenset(["-", "min", "max"])


def clauses(c: Construct) -> Told:
    """What is wrong, or not proven, about the clauses of the construct."""
    yield from _collapse(c)
    yield from _counters_after(c)
    yield from _on_device(c)
    for clause in c.directive.clauses:
        for name in clause.variables:
            if clause.name == "lastprivate":
                yield from _untouched(c, name)
            if not _occurs(c, name):
                continue
            match clause.name:
                case "private":
                    yield from _private(c, name)
                case "firstprivate":
                    yield from _firstprivate(c, name)
                case "lastprivate":
                    yield from _lastprivate(c, name)
                case "reduction" if clause.text.startswith("inscan"):
                    text = f"what a scan makes of '{name}' is not modelled"
                    yield Doubt("LX314", text, c.directive.loc)
                case "reduction":
                    yield from _reduction(c, name, clause.modifier)
                case "linear":
                    yield from _linear(c, name, clause.number)
    yield from _of_region(c)


def _occurs(c: Construct, name: str) -> bool:
    return name in reads(c.loop.body) | _set(c) and name not in {x.var for x in c.nest}


def _set(c: Construct) -> frozenset[str]:
    """What the loop writes, counters of inner loops included."""
    return writes(c.loop.body) | {s.var for _, s in c.statements if isinstance(s, For)}


# ---------------------------------------------------------------- copies of each iteration


def _private(c: Construct, name: str) -> Told:
    yield from _uninitialised(c, name, "private")
    yield from _lost(c, name)


def _uninitialised(c: Construct, name: str, kind: str) -> Told:
    if privacy(c.fn, c.path, name).exposed is None:
        return
    place = surely_read_first(c.fn, c.loop.body, c.path, name)
    if place is None:
        text = f"'{name}' may be read before it is written in an iteration, and is {kind}"
        yield Doubt("LX311", text, c.loop.origin.loc)
        return
    text = f"'{name}' is {kind}, but read before it is written: it has no value there"
    remedy = None if name in writes(c.loop.body) else f"firstprivate({name})"
    yield Finding("LX302", text, place.origin.loc, name, cure=remedy)


def _lost(c: Construct, name: str) -> Told:
    """The value the loop computes is not there after it."""
    if name not in _set(c) or not needed_after(c, name):
        return
    if name in c.directive.variables("lastprivate"):
        return
    place = surely_read_after(c.fn, c.path, name)
    if place is None or not _can_write(c, name) or may_stay(c, name):
        text = f"the value of '{name}' after the loop may be used, and is lost as it is private"
        yield Doubt("LX312", text, c.loop.origin.loc)
        return
    written = first_use(c.fn, c.loop.body, c.path, name) == "written"
    text = f"'{name}' is private, but its value is used after the loop: it is lost"
    remedy = f"lastprivate({name})" if written else None
    yield Finding("LX303", text, place.origin.loc, name, cure=remedy)


def _can_write(c: Construct, name: str) -> bool:
    """Proven: there are sizes for which the loop writes the variable."""
    return any(
        a.write and a.storage.name == name and i.exact and any(map(feasible, i.domain))
        for i in region(c.fn, c.path, counters=True).instances
        for a in i.accesses
    )


def _firstprivate(c: Construct, name: str) -> Told:
    if name not in _set(c):
        return
    yield from _lost(c, name)
    if privacy(c.fn, c.path, name).exposed is None:
        return
    rows = [d for d in dependences(c.fn, c.path) if d.array == name and d.carrier in c.nest_paths]
    passed = (d for d in rows if d.kind == "flow" and d.exact and _sees_the_last(c, d))
    flow = next(passed, None)
    if flow is not None and not may_stay(c, name):
        text = f"'{name}' carries a value to the next iteration, but each thread has its own"
        yield Finding("LX304", text, flow.sink.loc, name, flow.witness)
    elif any(d.kind == "flow" for d in rows):
        text = f"'{name}' may pass a value from one iteration to the next, and is firstprivate"
        yield Doubt("LX311", text, c.loop.origin.loc)


def _sees_the_last(c: Construct, d: Dependence) -> bool:
    """Whether no write of the same iteration comes between the ends of a flow dependence."""
    written = (p for p, s in c.statements if d.array in touched_by(s)[1])
    return all(order(d.sink.path) <= order(p) for p in written)


def _lastprivate(c: Construct, name: str) -> Told:
    if name not in c.directive.variables("firstprivate"):
        yield from _uninitialised(c, name, "lastprivate")
    known = privacy(c.fn, c.path, name)
    if known.exposed is None and not known.last_value:
        text = f"the last iteration may not write '{name}', which is lastprivate"
        yield Doubt("LX311", text, c.loop.origin.loc)


def _untouched(c: Construct, name: str) -> Told:
    """What a copy that the loop does not write leaves in the variable."""
    kept = _set(c) | {x.var for x in c.nest} | c.directive.variables("firstprivate")
    if name not in kept and needed_after(c, name):
        text = f"'{name}' is lastprivate, and the loop does not write it: its value is lost"
        yield Doubt("LX312", text, c.directive.loc)


def _counters_after(c: Construct) -> Told:
    """Loop variables are private; a simd loop gives them their last value."""
    if c.is_simd_only:
        return
    for loop in c.nest:
        name = loop.var
        if name not in visible(c.fn, c.path) or name in c.directive.variables("lastprivate"):
            continue
        if not needed_after(c, name):
            continue
        place = surely_read_after(c.fn, c.path, name)
        if place is None:
            text = f"the value of '{name}' after the loop may be used, and is lost as it is private"
            yield Doubt("LX312", text, loop.origin.loc)
        else:
            text = f"'{name}' counts the loop, so it is private: its value after the loop is lost"
            yield Finding("LX303", text, place.origin.loc, name, cure=f"lastprivate({name})")


def _on_device(c: Construct) -> Told:
    """A target construct has copies of its own of scalars that no clause maps."""
    targets = [d for d in (c.directive, *c.around) if d.words[:1] == ("target",)]
    kept = frozenset(v for d in targets for v in d.variables("map"))
    kept |= c.directive.variables("reduction") if c.directive in targets else frozenset()
    if not targets or any(d.clause("defaultmap") is not None for d in targets):
        return
    outside = visible(c.fn, c.path)
    for name in sorted(writes(c.loop.body) & outside.keys() - kept - c.private):
        decl = outside[name].decl
        inside = decl is not None and any(d.governs(decl) for d in targets)
        if not (outside[name].rank or inside) and needed_after(c, name):
            text = f"the value of '{name}' stays on the device: no clause maps it"
            yield Doubt("LX312", text, c.directive.loc)


# ---------------------------------------------------------------- reductions, linear, collapse


def _reduction(c: Construct, name: str, operator: str) -> Told:
    if operator not in _OPERATORS:
        text = f"the reduction '{operator}' is declared by the program, and not modelled"
        yield Doubt("LX314", text, c.directive.loc)
        return
    known = updates(c.fn, c.path, name)
    wanted = "+" if operator == "-" else operator
    place = c.loop.origin.loc
    if known is None:
        yield from _no_reduction(c, name, operator)
    elif known.ops - {wanted}:
        (*_, other) = sorted(known.ops - {wanted})
        text = f"'{name}' is updated with {other}, but the clause says reduction({operator}:{name})"
        remedy = f"reduction({other}:{name})" if len(known.ops) == 1 else None
        yield Finding("LX305", text, _use(c, name) or place, name, cure=remedy)
    elif known.rounds:
        text = f"the updates of '{name}' convert in between, so their order shows in the result"
        yield Doubt("LX311", text, _use(c, name) or place)


def _of_region(c: Construct) -> Told:
    """Reductions of the region, where the loop updates its thread's copy in another way."""
    for clause in c.region.clauses if c.region is not None else ():
        names = clause.variables if clause.name == "reduction" else ()
        for name in sorted(writes(c.loop.body).intersection(names) - c.private):
            known = updates(c.fn, c.path, name)
            wanted = "+" if clause.modifier == "-" else clause.modifier
            other = known is not None and (known.rounds or known.ops - {wanted})
            if other or clause.modifier not in _OPERATORS:
                text = (
                    f"'{name}' is a reduction ({clause.modifier}) of the region, and changes here"
                )
                yield Doubt("LX311", text, _use(c, name) or c.loop.origin.loc)


def _no_reduction(c: Construct, name: str, operator: str) -> Told:
    """Harmless where it is private in truth."""
    exposed = privacy(c.fn, c.path, name).exposed is not None
    if not exposed and not needed_after(c, name):
        return
    place = _use(c, name) or c.loop.origin.loc
    text = f"'{name}' is a reduction ({operator}), but the loop does more than update it"
    rows = [d for d in dependences(c.fn, c.path) if d.array == name and d.carrier in c.nest_paths]
    proven = next((d for d in rows if d.exact), None)
    if _updates_converted(c, name):
        text = f"the updates of '{name}' convert in between, so their order may show in the result"
        yield Doubt("LX311", text, place)
    elif proven is None or may_stay(c, name):
        yield Doubt("LX311", text, place)
    else:
        yield Finding("LX306", text, place, name, proven.witness)


def _updates_converted(c: Construct, name: str) -> bool:
    """Whether all the loop does is to update `name`, but for conversions: fmax of a float."""

    def plain(e: Expr) -> Expr:
        inner = e.operand if isinstance(e, Cast) else None
        return inner if isinstance(inner, Var | Load) and name in names(inner) else e

    body = map_exprs(c.loop.body, lambda e: map_expr(e, plain))
    known = updates(replace_at(c.fn, c.path, (replace(c.loop, body=body),)), c.path, name)
    return known is not None and len(known.ops) == 1


def _use(c: Construct, name: str) -> Loc | None:
    found = (s.origin.loc for _, s in c.statements if name in writes((s,)))
    return next(found, None)


def _linear(c: Construct, name: str, step: int | None) -> Told:
    found = advance(c.fn, c.path, name)
    place = c.loop.origin.loc
    if found is None and name in writes(c.loop.body):
        text = f"'{name}' is linear, and could not be seen to advance by a constant"
        yield Doubt("LX311", text, place)
    elif found is not None and step is not None and found[1] != step:
        text = f"'{name}' advances by {found[1]}, but the clause says linear({name}:{step})"
        yield Finding("LX307", text, place, name, cure=f"linear({name}:{found[1]})")
    elif step is None or (found is None and step):
        yield Doubt("LX311", f"the step of '{name}', which is linear, is not known", place)


def _collapse(c: Construct) -> Told:
    place = c.directive.loc
    if c.depth is None:
        yield Doubt("LX311", "the argument of collapse is not a number that is known", place)
    elif len(c.nest) < c.depth:
        text = f"collapse({c.depth}) needs {c.depth} loops directly inside each other"
        remedy = f"collapse({len(c.nest)})" if len(c.nest) > 1 else "no collapse"
        yield Finding("LX308", text, c.nest[-1].origin.loc, cure=remedy)
    counters = {x.var for x in c.nest}
    for loop in c.nest[1:]:
        used = (names(loop.lo) | names(loop.hi)) & counters
        if used:
            text = f"the bounds of '{loop.var}' depend on '{min(used)}': collapse needs OpenMP 5.0"
            yield Doubt("LX311", text, loop.origin.loc)
        elif (names(loop.lo) | names(loop.hi)) & writes(c.loop.body):
            text = f"the bounds of '{loop.var}' may change while the collapsed loops run"
            yield Doubt("LX311", text, loop.origin.loc)
