"""What `check` is asked: `--can STEP` and `--require VERDICT:LINE`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from loopxform.analysis.verdict import ENOUGH, LoopVerdict
from loopxform.api import Routine
from loopxform.checked import CheckedFile
from loopxform.cli.check_text import words
from loopxform.errors import Paint, TransformError, UsageError, plain
from loopxform.nearest import did_you_mean
from loopxform.source import Loc
from loopxform.transforms import Step, step
from loopxform.transforms.derivation import with_tiles


@dataclass(frozen=True)
class Answer:
    """Whether something holds; `lines` say why, or what stands in the way, to a person, and
    `reasons` to a tool. `loc` is the place that the question is about."""

    question: str
    holds: bool
    lines: tuple[str, ...]
    reasons: tuple[str, ...]
    loc: Loc | None

    def text(self, paint: Paint = plain) -> list[str]:
        first, *rest = self.lines or ("",)
        answer = "yes" if self.holds else "no"
        return [f"{self.question}: {paint(answer, answer)}; {first}", *rest]

    def json(self) -> dict[str, object]:
        return {"question": self.question, "holds": self.holds, "reasons": list(self.reasons)}


def can(routine: Routine, text: str) -> Answer:
    """Whether a step is legal, asked of the function as it is written. Raises UsageError for a
    step that says nothing meaningful."""
    try:
        made = step(text)
    except UsageError as e:
        e.subject = text
        raise
    with routine.contained():
        return _answer(made, routine)


def _answer(made: Step, routine: Routine) -> Answer:
    fn = with_tiles(routine.function, {})
    obstacles = made.check(fn)
    if not obstacles:
        why = (made.reason(fn),)
        return Answer(str(made), True, why, why, fn.origin.loc)
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
    lines = [f"the verdict on the loop over '{v.var}' is {words(v)}" for v in wrong or found]
    lines += [r.message for v in wrong for r in v.reasons]
    return Answer(text, not wrong, tuple(lines), tuple(lines), (wrong or found)[0].loc)


def at_line(report: CheckedFile, line: int, subject: str) -> tuple[LoopVerdict, ...]:
    """The loops that begin on a line of the file. Raises UsageError where there is none."""
    found = report.at_line(line)
    if not found:
        known = ", ".join(str(n) for n in sorted({v.line for v in report.loops if v.loc}))
        help = f"loops begin on line {known}" if known else "no loop was found"
        raise UsageError(f"no loop begins on line {line}", help=help, subject=subject)
    return found
