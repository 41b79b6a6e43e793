"""What `check` is asked: `--can STEP` and `--require VERDICT:LINE`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from loopxform.analysis.assumptions import assumed
from loopxform.analysis.verdict import ENOUGH, LoopVerdict
from loopxform.api.check import CheckedFile
from loopxform.api.facade import Routine
from loopxform.budget import Exhausted
from loopxform.cli.check_text import together, words
from loopxform.errors import Paint, TransformError, UsageError, plain
from loopxform.ir.nodes import For, Function, Opaque, Stmt
from loopxform.ir.visit import walk
from loopxform.nearest import did_you_mean
from loopxform.source import Loc
from loopxform.transforms import Derivation, Step, step
from loopxform.transforms.derivation import with_tiles


@dataclass(frozen=True)
class Answer:
    """Whether something holds; `lines` say why, or what stands in the way, to a person, and
    `reasons` to a tool. What is `unknown` does not hold. `loc` is the place that the question is
    about, `assumes` what a yes takes for granted."""

    question: str
    holds: bool
    lines: tuple[str, ...]
    reasons: tuple[str, ...]
    loc: Loc | None
    assumes: tuple[str, ...] = ()
    unknown: bool = False

    @property
    def word(self) -> str:
        return "yes" if self.holds else "unknown" if self.unknown else "no"

    def text(self, paint: Paint = plain) -> list[str]:
        first, *rest = self.lines or ("",)
        granted = f" (if {', '.join(together(self.assumes))})" if self.assumes else ""
        return [f"{self.question}: {paint(self.word, self.word)}{granted}; {first}", *rest]

    def json(self) -> dict[str, object]:
        return {
            "question": self.question,
            "holds": self.holds,
            **({"unknown": True} if self.unknown else {}),
            "reasons": list(self.reasons),
            "assumes": list(self.assumes),
        }


def can(routine: Routine, text: str) -> Answer:
    """Whether a step is legal, asked of the function as it is written. Raises UsageError for a
    step that says nothing meaningful."""
    try:
        made = step(text)
    except UsageError as e:
        e.subject = text
        raise
    unread = (s for _, s in walk(routine.function.body) if isinstance(s, Opaque))
    late = next((s.reason for s in unread if s.code == Exhausted.code), None)
    if late is not None:
        return _unknown(made, routine, late)
    try:
        with routine.contained():
            return _answer(made, routine)
    except Exhausted as e:
        return _unknown(made, routine, f"{e.message}; {e.help}")


def _unknown(made: Step, routine: Routine, why: str) -> Answer:
    """The limits leave no time for an answer."""
    loc = routine.function.origin.loc
    return Answer(str(made), False, (why,), (why,), loc, unknown=True)


def _answer(made: Step, routine: Routine) -> Answer:
    fn = with_tiles(routine.function, {})
    obstacles = made.check(fn)
    if not obstacles:
        why = (made.reason(fn),)
        return Answer(str(made), True, why, why, fn.origin.loc, _granted(made, fn))
    error = TransformError(str(made), obstacles)
    if error.status == 2:
        raise error
    lines = error.render(routine.file.parsed.sources).split("\n")
    return Answer(str(made), False, tuple(lines), tuple(_said(error)), error.loc or fn.origin.loc)


def _said(error: TransformError) -> Iterator[str]:
    """What an error says, without the source line."""
    place = f"{error.loc}: " if error.loc else ""
    yield f"{place}{error.message} [{error.code}]"
    yield from error.notes
    if error.help:
        yield f"help: {error.help}"


def _granted(made: Step, fn: Function) -> tuple[str, ...]:
    """What the legality of a step takes for granted about the statements that it changes: nothing
    where all of them do what they did, in the same order."""
    after = Derivation(fn).then(made)
    if after.keeps_order:
        return ()
    return assumed(fn, *_changed(fn.body, after.function.body))


def _changed(before: tuple[Stmt, ...], after: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
    """The statements that are others afterwards; inside a loop, where that is all."""
    kept = set(after)
    found = tuple(s for s in before if s not in kept)
    match found, tuple(s for s in after if s not in set(before)):
        case (For() as old,), (For() as new,) if replace(old, body=()) == replace(new, body=()):
            return _changed(old.body, new.body)
        case _:
            return found


def require(text: str, report: CheckedFile) -> Answer:
    """Whether the loops that begin on a line have at least a verdict: `parallel:12`. Raises
    UsageError."""
    kind, _, number = text.partition(":")
    if kind not in ENOUGH or not (number.isascii() and number.isdigit()):
        hint = did_you_mean(kind, ENOUGH)
        help = f"{hint}parallel:LINE, privatizable:LINE or reduction:LINE"
        raise UsageError(f"'{text}' is not a requirement", help=help, subject=text)
    found = at_line(report, int(number), text)
    wrong = [v for v in found if v.parallel not in ENOUGH[kind]]
    about = [replace(v, assumes=()) for v in wrong or found]
    lines = [f"the verdict on the loop over '{v.var}' is {words(v)}" for v in about]
    lines += [r.message for v in wrong for r in v.reasons]
    granted = () if wrong else tuple(dict.fromkeys(a for v in found for a in v.assumes))
    place = (wrong or found)[0].loc
    late = bool(wrong) and all(map(_is_late, wrong))
    return Answer(text, not wrong, tuple(lines), tuple(lines), place, granted, unknown=late)


def _is_late(v: LoopVerdict) -> bool:
    """Whether the limits left no time for a verdict."""
    return any(r.code == Exhausted.code for r in v.reasons)


def at_line(report: CheckedFile, line: int, subject: str) -> tuple[LoopVerdict, ...]:
    """The loops that begin on a line of the file. Raises UsageError where there is none."""
    found = report.at_line(line)
    if not found:
        lines = sorted({v.line for v in report.loops if v.loc})
        known = ", ".join(str(n) for n in lines if report.at_line(n))
        help = f"loops begin on line {known}" if known else "no loop was found"
        raise UsageError(f"no loop begins on line {line}", help=help, subject=subject)
    return found
