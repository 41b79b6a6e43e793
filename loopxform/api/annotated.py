"""What the annotations of a function ask for, and whether it holds: one mechanism for `check`,
`tile`, `offload` and Python.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from loopxform.analysis.verdict import ENOUGH, LoopVerdict
from loopxform.api.source import SourceRoutine
from loopxform.api.verdicts import verdicts
from loopxform.errors import AnnotationError, InputError, UsageError
from loopxform.frontend import Parsed
from loopxform.ir.annotations import Annotation, left_alone
from loopxform.ir.data_flow import directives
from loopxform.ir.nodes import Function, Opaque
from loopxform.ir.visit import at, walk
from loopxform.source import Loc

if TYPE_CHECKING:
    from loopxform.schedule.requests import Wish, Wishes

# ---------------------------------------------------------------- claims


@dataclass(frozen=True)
class Asserted:
    """A `parallel` or `check`: the loops that it is said of, and those of which it is not true.
    `why` says more where there is no verdict."""

    annotation: Annotation
    loops: tuple[LoopVerdict, ...]
    wrong: tuple[LoopVerdict, ...]
    why: str = ""

    def __repr__(self) -> str:
        return f"<Asserted {self.annotation.loc}: {'holds' if self.holds else 'does not hold'}>"

    @property
    def holds(self) -> bool:
        """Whether it is true of every loop that it is said of."""
        return bool(self.loops) and not self.wrong

    def json(self) -> dict[str, object]:
        """The annotation as the contract of `check --format json` has it."""
        a = self.annotation
        return {
            "text": a.text,
            "line": a.loc.line if a.loc else 0,
            "column": a.loc.column if a.loc else 0,
            "loops": [v.line for v in self.loops],
            "holds": self.holds,
        }

    def error(self) -> AnnotationError:
        """The diagnostic where it does not hold."""
        a = self.annotation
        said = [f"the verdict on the loop over '{v.var}' is {v.parallel}" for v in self.wrong]
        notes = [f"{r.loc or v.loc}: {r.message}" for v in self.wrong for r in v.reasons]
        notes += [
            f"{v.loc}: a reduction ({r.op} of {r.var})" for v in self.wrong for r in v.reductions
        ]
        return AnnotationError(
            f"{a.text} does not hold: {'; '.join(said) or self.why}",
            loc=a.loc,
            width=a.width,
            notes=notes,
            help="loopxform check shows the dependence matrix; remove the annotation, or what "
            "stands in its way",
        )


def asserted(routine: SourceRoutine, verdicts: Sequence[LoopVerdict]) -> tuple[Asserted, ...]:
    """Every `parallel` and `check` of a function, in text order."""
    found = (a for a in routine.annotations if a.verb in ("parallel", "check"))
    return tuple(_asserted(routine.function, a, verdicts) for a in found)


def _asserted(fn: Function, a: Annotation, verdicts: Sequence[LoopVerdict]) -> Asserted:
    loops = tuple(v for v in verdicts if (v.depth == 0 if a.whole else v.path in a.paths))
    enough = ENOUGH[a.words[0] if a.words else "privatizable"]
    wrong = tuple(v for v in loops if v.parallel not in enough)
    odd = [s.reason for p in a.paths if isinstance(s := at(fn, p), Opaque)]
    return Asserted(a, loops, wrong, next(iter(odd), "there is no loop"))


def require_asserted(routine: SourceRoutine) -> None:
    """Raises AnnotationError for a `parallel` or `check` that is not proven."""
    if any(a.verb in ("parallel", "check") for a in routine.annotations):
        for found in asserted(routine, verdicts(routine)):
            if not found.holds:
                raise found.error()


# ---------------------------------------------------------------- what is left alone


def require_wanted(routine: SourceRoutine) -> None:
    """Raises InputError where something of the function is to stay on the host."""
    fn = routine.function
    for d in directives(routine.file.parsed.data.get(fn.name, ())):
        raise InputError(
            f"a data directive stands in '{fn.name}', which only the whole file keeps",
            loc=d.loc,
            code="LX257",
            help="use loopxform offload FILE.c, or move the loops into a function of their own",
        )
    for path, s in walk(fn.body):
        a = left_alone(routine.annotations, path, s)
        if a is None:
            continue
        what = f"'{fn.name}'" if a.whole else "what stands there"
        why = f"is outside of the scop of line {a.loc.line if a.loc else 0}"
        raise InputError(
            f"{what} {why if a.verb == 'scop' else 'is annotated ignore'}",
            loc=s.origin.loc if a.verb == "scop" else a.loc,
            code="LX067",
            width=1 if a.verb == "scop" else a.width,
            help="remove the annotation, or move what is left alone into a function of its own",
        )


def require_met(routine: SourceRoutine) -> None:
    """Raises AnnotationError for a claim that is not proven, InputError where all of the function
    is to stay on the host."""
    require_asserted(routine)
    if any(a.whole and a.verb == "ignore" for a in routine.annotations):
        require_wanted(routine)


def require_read(parsed: Parsed) -> None:
    """Raises the InputError of a function that is not modelled and of which something is asked."""
    for name, error in parsed.failed.items():
        asked = parsed.annotations.get(name, ())
        if any(a.verb in ("tile", "parallel", "check") for a in asked):
            raise error


def considered(parsed: Parsed, functions: Sequence[Function]) -> list[Function]:
    """The functions that are meant where none is named: none that is annotated `ignore`; where
    there are scops, those with a scop or a `tile`."""

    def has(fn: Function, *verbs: str) -> bool:
        return any(a.verb in verbs for a in parsed.annotations.get(fn.name, ()))

    def is_ignored(fn: Function) -> bool:
        known = parsed.annotations.get(fn.name, ())
        return any(a.verb == "ignore" and a.whole for a in known)

    left = [fn for fn in functions if not is_ignored(fn)]
    if any(has(fn, "scop") for fn in left):
        left = [fn for fn in left if has(fn, "scop", "tile")]
    return left


def with_scops(parsed: Parsed) -> frozenset[str]:
    """The functions with a `scop`."""
    found = parsed.annotations.items()
    return frozenset(name for name, known in found if any(a.verb == "scop" for a in known))


def tiled_first(parsed: Parsed, functions: Sequence[Function]) -> list[Function]:
    """Those functions that have a `tile`, else all."""
    tiled = [fn for fn in functions if next(_tiles(parsed.annotations.get(fn.name, ())), None)]
    return tiled or list(functions)


# ---------------------------------------------------------------- tiling


def require_understood(parsed: Parsed) -> None:
    """Raises InputError for an option of `tile` that there is not."""
    for a in _tiles(x for found in parsed.annotations.values() for x in found):
        _wish(a, parsed)


def wish(routine: SourceRoutine) -> Wish:
    """What the annotations ask of the one nest of a function. Raises InputError where several
    speak of it."""
    found = [a for a in _tiles(routine.annotations) if not a.whole]
    if len(found) > 1:
        raise InputError(
            f"'{routine.name}' has {len(found)} annotations tile",
            loc=found[1].loc,
            code="LX066",
            width=found[1].width,
            help="annotate one of them, or use loopxform offload, which tiles every nest",
        )
    known = wishes(routine)
    return known.at[next(iter(known.at))] if known.at else known.common


def wishes(routine: SourceRoutine) -> Wishes:
    """What the annotations ask of each nest of a function."""
    from loopxform.schedule.requests import Wish, Wishes

    common, places = Wish(), dict[Loc, Wish]()
    for a in _tiles(routine.annotations):
        made = _wish(a, routine.file.parsed)
        if a.whole:
            common = made.over(common)
        for path in a.paths:
            loc = at(routine.function, path).origin.loc
            if loc is not None:
                places[loc] = made.over(places.get(loc, Wish()))
    return Wishes(common, {loc: w.over(common) for loc, w in places.items()})


def _tiles(annotations: Sequence[Annotation] | Iterator[Annotation]) -> Iterator[Annotation]:
    return (a for a in annotations if a.verb == "tile")


def _wish(a: Annotation, parsed: Parsed) -> Wish:
    from loopxform.schedule.requests import wish  # loads what only tiling needs

    try:
        return replace(wish(dict(a.options)), annotation=a)
    except UsageError as e:
        word = e.subject or ""
        raw = parsed.sources.line(a.loc) if a.loc else None
        column = (raw or "").find(word, a.loc.column - 1 if a.loc else 0)
        loc = Loc(a.loc.file, a.loc.line, column + 1) if a.loc and column >= 0 else a.loc
        width = len(word) if column >= 0 else a.width
        error = InputError(e.message, loc=loc, code="LX066", width=width, help=e.help)
        error.sources = parsed.sources
        raise error from e
