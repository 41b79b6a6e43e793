"""The text of `#pragma loopxform`: verbs, some with arguments.

    loopxform tile(Ty=16, recipe=block, pad) parallel

A reader of text only: which objects the names stand for is asked of the scope it stands in.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from loopxform.floating_point import LEVELS, Level
from loopxform.frontend.pragmas.openmp import split
from loopxform.nearest import did_you_mean
from loopxform.records import record

PLAIN = ("parallel", "ignore")
"""Verbs without arguments."""

TAKING = {
    "tile": "tile(Ty=16, Rx=4)",
    "check": "check, check(privatizable) or check(reduction)",
    "assume": "assume(n > 0)",
    "noalias": "noalias(A, C)",
    "scratch": "scratch(tmp)",
    "fp": "fp(strict), fp(contract), fp(reassociate) or fp(fast)",
}
"""Verbs with arguments, and how they are written."""

VERDICTS = ("parallel", "privatizable", "reduction")
"""What `check` may ask for."""

SCOPS = ("scop", "endscop")
_OF_DATA = "data|enter|exit|update"
_WORD = re.compile(r"[A-Za-z_]\w*")
_OPTION = re.compile(r"([A-Za-z_][\w-]*)\s*(?:=\s*(\S.*)|\((.*)\))?", re.DOTALL)


class Malformed(Exception):
    """A pragma that says nothing meaningful: what is wrong with the word at `at` of its text."""

    def __init__(self, at: int, word: str, message: str, help: str) -> None:
        super().__init__(message)
        self.at = at
        self.word = word
        self.message = message
        self.help = help


@record
class Written:
    """One verb, where it stands in the text, and the text in its parentheses, None without."""

    verb: str
    at: int
    argument: str | None = None
    inside: int = 0

    @property
    def text(self) -> str:
        return self.verb if self.argument is None else f"{self.verb}({self.argument.strip()})"

    def items(self) -> tuple[tuple[int, str], ...]:
        """What stands between commas, and where."""
        out, at = [], self.inside
        for part in split(self.argument or ""):
            at += (self.argument or "")[at - self.inside :].index(part) if part else 0
            out.append((at, part))
            at += len(part)
        return tuple(out)


def is_ours(text: str) -> bool:
    """Whether a pragma is an annotation; `scop` and `endscop` are everyone's. Data directives are
    none (`pragmas.data`)."""
    return re.match(rf"(loopxform\b(?!\s+({_OF_DATA})\b)|(end)?scop\s*$)", text) is not None


def verbs(text: str) -> tuple[Written, ...]:
    """The verbs of a pragma that is ours. Raises Malformed."""
    if text.strip() in SCOPS:
        return (Written(text.strip(), 0),)
    found = tuple(_verbs(text, len("loopxform")))
    if not found:
        raise Malformed(0, "loopxform", "the pragma says nothing", _known())
    return found


def _verbs(text: str, at: int) -> Iterator[Written]:
    while rest := text[at:].strip(" \t,"):
        at = text.index(rest, at)
        m = _WORD.match(rest)
        if m is None:
            raise Malformed(at, rest[0], f"'{rest[0]}' is no annotation", _known())
        found = _with_argument(text, m.group(), at)
        _require_form(found)
        yield found
        at = found.inside + len(found.argument) + 1 if found.argument is not None else at + m.end()


def _with_argument(text: str, verb: str, at: int) -> Written:
    start = at + len(verb)
    blanks = len(text[start:]) - len(text[start:].lstrip())
    inside = start + blanks + 1
    if text[start + blanks : inside] != "(":
        return Written(verb, at)
    depth = 1
    for n in range(inside, len(text)):
        depth += {"(": 1, ")": -1}.get(text[n], 0)
        if depth == 0:
            return Written(verb, at, text[inside:n], inside)
    raise Malformed(inside - 1, "(", f"the parenthesis of '{verb}' is not closed", _form(verb))


def _require_form(w: Written) -> None:
    """Raises Malformed for a verb that is not known, or has arguments that it does not take."""
    if w.verb not in (*PLAIN, *TAKING, *SCOPS):
        raise Malformed(w.at, w.verb, f"'{w.verb}' is no annotation", nearest(w.verb))
    empty = w.argument is None or not w.argument.strip()
    if w.verb in (*PLAIN, *SCOPS) and w.argument is not None:
        raise Malformed(w.inside - 1, "(", f"'{w.verb}' takes no argument", f"write {w.verb} alone")
    if w.verb in ("assume", "noalias", "scratch", "fp") and empty:
        raise Malformed(w.at, w.verb, f"'{w.verb}' needs an argument", _form(w.verb))


def _form(verb: str) -> str:
    return f"write {TAKING.get(verb, verb)}"


def _known() -> str:
    return f"the annotations are: {', '.join(sorted((*PLAIN, *TAKING, *SCOPS)))}"


def nearest(word: str) -> str:
    """The help for a verb that is not known."""
    return did_you_mean(word, (*PLAIN, *TAKING, *SCOPS)) + _known()


# ---------------------------------------------------------------- arguments


def options(w: Written) -> tuple[tuple[str, str], ...]:
    """`Ty=16, pad, relayout(A:1,0)` by name; "" for what has no value. Raises Malformed."""
    out: dict[str, str] = {}
    for at, text in w.items() if w.argument is not None and w.argument.strip() else ():
        m = _OPTION.fullmatch(text)
        if m is None:
            raise Malformed(at, text or ",", f"'{text}' is no option of tile", _form("tile"))
        if m.group(1) in out:
            raise Malformed(at, m.group(1), f"'{m.group(1)}' is given twice", "give it once")
        out[m.group(1)] = next((g.strip() for g in m.groups()[1:] if g is not None), "")
    return tuple(out.items())


def verdict(w: Written) -> str:
    """What a `check` asks for. Raises Malformed."""
    asked = "parallel" if w.argument is None else w.argument.strip()
    if asked not in VERDICTS:
        message = f"'{asked}' is no verdict that can be asked for"
        raise Malformed(w.inside, asked, message, f"write {TAKING['check']}")
    return asked


def level(w: Written) -> Level:
    """What an `fp` permits. Raises Malformed."""
    asked = (w.argument or "").strip()
    known = next((x for x in LEVELS if x == asked), None)
    if known is None:
        message = f"'{asked}' is no level of floating point"
        help = f"{did_you_mean(asked, LEVELS)}{_form('fp')}"
        raise Malformed(w.inside, asked or ")", message, help)
    return known


def arrays(w: Written) -> tuple[tuple[int, str], ...]:
    """The names in a `noalias` or `scratch`, and where they stand. Raises Malformed."""
    found = w.items()
    for at, name in found:
        if _WORD.fullmatch(name) is None:
            raise Malformed(at, name or ",", f"'{name}' is not the name of an array", _form(w.verb))
    if w.verb == "noalias" and len({name for _, name in found}) < 2:
        raise Malformed(w.at, w.verb, "'noalias' needs two arrays, or more", _form(w.verb))
    return found
