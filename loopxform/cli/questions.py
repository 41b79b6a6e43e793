"""What `check` is asked: `--can STEP` and `--require VERDICT:LINE`."""

from __future__ import annotations

from dataclasses import replace

from loopxform.analysis.verdict import ENOUGH, LoopVerdict
from loopxform.api.check import CheckedFile
from loopxform.budget import Exhausted
from loopxform.cli.check_text import together, words
from loopxform.errors import UsageError
from loopxform.nearest import did_you_mean
from loopxform.quotation import Paint, plain
from loopxform.records import record
from loopxform.source import Loc


@record
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
