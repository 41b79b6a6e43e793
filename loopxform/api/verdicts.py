"""The verdicts and claims about one function, in the words of its text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING

from loopxform.analysis.assumptions import names_in
from loopxform.analysis.spelling import spelled, without_subscripts
from loopxform.analysis.verdict import ENOUGH, LoopVerdict, Reason, judge
from loopxform.api.prepared_names import with_prepared_names
from loopxform.api.restated import restated
from loopxform.api.source import SourceFile, SourceRoutine
from loopxform.ir.nodes import For, Function, Opaque, While
from loopxform.ir.visit import at, names, stmt_exprs, walk
from loopxform.source import Loc

if TYPE_CHECKING:
    from loopxform.analysis.openmp import Claim


def verdicts(routine: SourceRoutine, seconds: float | None = None) -> tuple[LoopVerdict, ...]:
    """A verdict for every loop, in text order; see `Routine.check`."""
    fn = routine.function
    as_written = judged(fn, seconds)
    found = as_meant(as_written, fn, seconds)
    found = prepared(spelled(found, fn), fn)
    found = in_order(found, fn, induction=False)
    found = in_order(apart(found, routine.file), fn, induction=True)
    return with_given(routine, found)


def as_meant(
    verdicts: Sequence[LoopVerdict], fn: Function, seconds: float | None = None
) -> tuple[LoopVerdict, ...]:
    """The verdicts, and what is known of loops that are not understood as they are written."""
    several = shared_places(verdicts)
    return with_prepared_names(restated(verdicts, fn, several, seconds), fn, several)


def prepared(
    verdicts: Sequence[LoopVerdict], fn: Function, known: Collection[Loc] = ()
) -> tuple[LoopVerdict, ...]:
    """The verdicts, with the steps that make loops parallel: in the names of the tree. Of loops at
    places that are `known` nobody asks."""
    if not any(
        v.left and not v.idioms and v.loc not in known
        for v in verdicts
        if v.parallel in ("no", "unknown")
    ):
        return tuple(verdicts)
    from loopxform.api.preparing_steps import with_preparing_steps  # loads steps

    return with_preparing_steps(verdicts, fn, shared_places(verdicts).union(known))


def judged(fn: Function, seconds: float | None = None) -> tuple[LoopVerdict, ...]:
    """A verdict for every loop, in text order; for those around loops that end when data say so,
    what is known once these are loops of the tree."""
    found = judge(fn, seconds)
    on_data = any(
        isinstance(s, While) or (isinstance(s, Opaque) and s.jump) for _, s in walk(fn.body)
    )
    if not on_data or not any(v.parallel == "unknown" for v in found):
        return found
    from loopxform.prepare.while_loops import whole_loops  # loads steps, which others do without

    whole = whole_loops(fn)
    if whole is fn:
        return found
    several = shared_places(found)
    left = frozenset(v.loc for v in found if v.parallel == "unknown" and v.loc is not None)
    known = {
        (v.loc, v.var): v
        for v in judge(whole, seconds, only=left)
        if v.parallel in ENOUGH["reduction"] and v.loc not in several
    }
    return tuple(
        replace(known.get((v.loc, v.var), v), path=v.path) if v.parallel == "unknown" else v
        for v in found
    )


def shared_places(verdicts: Sequence[LoopVerdict]) -> frozenset[Loc]:
    """The places of several loops each: those of a macro."""
    found = Counter(v.loc for v in verdicts if v.loc is not None)
    return frozenset(loc for loc, count in found.items() if count > 1)


def _keys(verdicts: Sequence[LoopVerdict]) -> Callable[[LoopVerdict], tuple[Loc, str] | None]:
    """Gives the place of a loop as `extracted_loops` has it: with what it counts where it is one of
    several that a macro has there. None where that does not tell them apart."""
    several = shared_places(verdicts)
    counted = Counter((v.loc, v.var) for v in verdicts)

    def key(v: LoopVerdict) -> tuple[Loc, str] | None:
        if v.loc is None or v.loc not in several:
            return None if v.loc is None else (v.loc, "")
        return (v.loc, v.var) if v.var and counted[v.loc, v.var] == 1 else None

    return key


def apart(verdicts: Sequence[LoopVerdict], file: SourceFile) -> tuple[LoopVerdict, ...]:
    """The verdicts, and for loops that are unknown those that they get apart from the rest of the
    function."""
    if not any(v.parallel == "unknown" for v in verdicts):
        return tuple(verdicts)
    key = _keys(verdicts)
    written = {key(v): v.var for v in verdicts}
    decided: dict[tuple[Loc, str], tuple[LoopVerdict, Function]] = {}
    for v in verdicts:
        place = key(v)
        unknown = place is not None and place not in decided and v.parallel == "unknown"
        loop = file.extracted_loops.get(place) if unknown and place is not None else None
        if loop is None:
            continue
        as_written = judged(loop)
        known = {
            p[0] for x in verdicts if (p := key(x)) and (x.parallel != "unknown" or p in decided)
        }
        alone = prepared(spelled(as_meant(as_written, loop), loop), loop, known)
        made = {x.var for x in alone if x.var != written.get(key(x), x.var)}
        for x in alone:
            there = key(x)
            is_judged = x.parallel != "unknown" or x.idioms or x.after
            better = x.parallel not in ("no", "unknown") or there not in decided
            if there is not None and there in written and is_judged and better:
                reductions = without_subscripts(x.reductions, made)
                assumes = without_subscripts(x.assumes, made)
                decided[there] = replace(x, reductions=reductions, assumes=assumes), loop
    return tuple(
        _as_apart(v, *decided[place])
        if v.parallel == "unknown" and (place := key(v)) is not None and place in decided
        else v
        for v in verdicts
    )


def _as_apart(v: LoopVerdict, alone: LoopVerdict, fn: Function) -> LoopVerdict:
    """What a loop gets apart, in a function of its own. Where it counts its iterations there, its
    counter is set in each of them, and after them to where it ends (`strides`)."""
    var = v.var or alone.var
    found = replace(alone, path=v.path, depth=v.depth, var=var)
    if var == alone.var or var not in alone.private or var in alone.copies:
        return found
    around = ((p, s) for p, s in walk(fn.body) if p[: len(alone.path)] != alone.path)
    if not any(var in names(e) for _, s in around for e in stmt_exprs(s)):
        return found
    uncarried = tuple(name for name in alone.uncarried if name != var)
    answer = "privatizable" if alone.parallel == "yes" else alone.parallel
    return replace(found, parallel=answer, copies=(*alone.copies, var), uncarried=uncarried)


def in_order(
    verdicts: Sequence[LoopVerdict], fn: Function, *, induction: bool
) -> tuple[LoopVerdict, ...]:
    """The verdicts, `no` where a loop is not understood as a whole, and the text says all the same
    that its iterations depend on each other: by an `induction` variable, or by anything else."""
    several = shared_places(verdicts)
    obstacles = {
        s.loop: Reason("LX105", s.message, s.loc)
        for s in fn.sequential
        if s.loop not in several and s.induction == induction
    }
    return tuple(
        replace(v, parallel="no", reasons=(obstacles[v.loc],))
        if v.parallel == "unknown" and v.loc in obstacles
        else v
        for v in verdicts
    )


def claims(routine: SourceRoutine, seconds: float | None = None) -> tuple[Claim, ...]:
    """What is true of every OpenMP loop, in text order; see `Routine.audit`."""
    directives = routine.file.parsed.directives.get(routine.name, ())
    if not directives:
        return ()
    from loopxform.analysis.openmp import audit  # loads what only OpenMP needs

    unseen = _openmp_only(routine)
    return spelled(audit(routine.function, directives, seconds, unseen=unseen), routine.function)


def _openmp_only(routine: SourceRoutine) -> Loc | None:
    """Where text of the function begins that only a compiler that heeds OpenMP would see."""
    begin = routine.function.origin.loc
    if begin is None:
        return None
    functions = routine.file.parsed.unit.functions
    starts = sorted(f.origin.loc.line for f in functions if f.origin.loc)
    end = next((n for n in starts if n > begin.line), None)
    for n in routine.file.parsed.openmp_only:
        if begin.line < n and (end is None or n < end):
            return Loc(begin.file, n, 1)
    return None


def with_given(routine: SourceRoutine, verdicts: Sequence[LoopVerdict]) -> tuple[LoopVerdict, ...]:
    """The verdicts, with what `noalias` says of the arrays of each loop among what they assume."""
    fn = routine.function
    order = {p.name: n for n, p in enumerate(fn.objects)}
    given = [
        sorted(pair, key=lambda name: order.get(name, len(order)))
        for a in routine.annotations
        if a.verb == "noalias"
        for pair in combinations(dict.fromkeys(a.words), 2)
    ]
    return tuple(_with_pairs(fn, v, given) for v in verdicts) if given else tuple(verdicts)


def _with_pairs(fn: Function, v: LoopVerdict, pairs: Sequence[Sequence[str]]) -> LoopVerdict:
    loop = at(fn, v.path)
    used = names_in(loop) if isinstance(loop, For) else frozenset[str]()
    said = [f"{a} and {b} do not overlap" for a, b in pairs if {a, b} <= used]
    return replace(v, assumes=tuple(dict.fromkeys((*v.assumes, *said))))
