"""Arrays of the caller's that nobody reads after a call, as `#pragma loopxform scratch(tmp)` or an
option says, and that the function does not read before it writes them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from loopxform.analysis.extent import extent
from loopxform.analysis.transfers import movement
from loopxform.api.source import SourceRoutine
from loopxform.errors import AnnotationError, IgnoredOption, LoopxformError, UnsupportedC
from loopxform.ir.nodes import Assign, Function, Load, Opaque, Stmt
from loopxform.ir.visit import loads, stmt_exprs, walk
from loopxform.nearest import did_you_mean


def with_scratch(fn: Function, names: Sequence[str]) -> Function:
    """The function with those of its array parameters as scratch."""
    known = (p.name for p in fn.params if p.array and p.name in names)
    return replace(fn, scratch=tuple(dict.fromkeys((*fn.scratch, *known))))


def require_known(names: Iterable[str], functions: Sequence[Function]) -> None:
    """Raises IgnoredOption for an array that none of the functions has as scratch, which are all
    that are offloaded as a whole."""
    for name in names:
        if not any(name in fn.scratch for fn in functions):
            arrays = {p.name for fn in functions for p in fn.params if p.array} - {name}
            message = f"no function that is offloaded as a whole has an array parameter '{name}'"
            help = f"{did_you_mean(name, arrays)}name an array that the caller gives"
            raise IgnoredOption(message, code="LX026", help=help, subject="--scratch")


def require_scratch(routine: SourceRoutine) -> None:
    """Raises AnnotationError for a `scratch` of what may be read before it is written, UnsupportedC
    where an option says so. Of a function that is not modelled as a whole, nothing is asked."""
    if any(isinstance(s, Opaque) for _, s in walk(routine.function.body)):
        return
    for name in routine.function.scratch:
        why = _not_scratch(routine.function, name)
        if why is not None:
            raise _unmet(routine, name, why)


def _not_scratch(fn: Function, name: str) -> UnsupportedC | None:
    param = next((p for p in fn.params if p.name == name), None)
    if param is None:
        text = f"'{name}' points to structs, whose members are arrays of their own"
        return UnsupportedC(text, code="LX062", help="leave it out")
    found = extent(fn, name)
    if found is not None and not movement(fn, param, found).exposed:
        return None
    uses = (s for _, s in walk(fn.body) if any(x.array == name for x in _loaded(s)))
    loc = next((s.origin.loc for s in uses), None) or param.origin.loc
    text = f"'{name}' may be read before it is written: then the caller's values count"
    help = f"write all of '{name}' that is read before that, or say nothing of it"
    return UnsupportedC(text, loc=loc, code="LX062", help=help)


def _loaded(s: Stmt) -> Iterator[Load]:
    target = s.target if isinstance(s, Assign) else None
    return (x for e in stmt_exprs(s) for x in loads(e) if x is not target)


def _unmet(routine: SourceRoutine, name: str, why: UnsupportedC) -> LoopxformError:
    """The error of the annotation that names an array; of an option where none does."""
    for a in routine.annotations:
        if a.verb == "scratch" and name in a.words:
            return AnnotationError(
                f"{a.text} cannot be met: {why.message}",
                loc=a.loc,
                code="LX401",
                width=a.width,
                notes=(f"{why.loc}: it is read there",) if why.loc else (),
                help=why.help,
            )
    return why
