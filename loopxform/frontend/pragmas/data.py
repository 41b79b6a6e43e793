"""The text of data directives: the words of OpenACC, and what they mean there.

    loopxform data copyin(A[0:n]) copyout(C) copy(B) create(T)      in front of a statement
    loopxform enter data copyin(A[0:n]) create(T)
    loopxform exit data copyout(A[0:n]) delete(T)
    loopxform update host(A[0:n]) device(B)

A reader of text only: which objects the names stand for is asked of the scope it stands in.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, TypeAlias

from loopxform.frontend.pragmas.annotations import Malformed
from loopxform.frontend.pragmas.openmp import split
from loopxform.nearest import did_you_mean
from loopxform.records import record

Kind: TypeAlias = Literal["data", "enter data", "exit data", "update"]

CLAUSES: dict[Kind, tuple[str, ...]] = {
    "data": ("copy", "copyin", "copyout", "create"),
    "enter data": ("copyin", "create"),
    "exit data": ("copyout", "delete"),
    "update": ("host", "self", "device"),
}
_FORMS: dict[Kind, str] = {
    "data": "data copyin(A[0:n]) copyout(C[0:n])",
    "enter data": "enter data copyin(A[0:n])",
    "exit data": "exit data copyout(A[0:n])",
    "update": "update host(A[0:n])",
}
_HEAD = re.compile(r"loopxform\s+(data|enter\s+data|exit\s+data|enter|exit|update)\b")
_WORD = re.compile(r"[A-Za-z_]\w*")
_PLACE = re.compile(r"[A-Za-z_]\w*(?:\s*(?:\.|->)\s*[A-Za-z_]\w*)*")


@record
class Dimension:
    """`[low:count]`, in C."""

    low: str
    count: str


@record
class Section:
    """An array, or some of its elements: `A[0:n]`. `at` is its place in the text, `array` what the
    brackets stand behind, which begins with a `name`."""

    at: int
    text: str
    name: str
    array: str
    dimensions: tuple[Dimension, ...]


@record
class Clause:
    """`copyin(A[0:n], B)`."""

    word: str
    at: int
    sections: tuple[Section, ...]


@record
class DataDirective:
    """What a data directive says."""

    kind: Kind
    clauses: tuple[Clause, ...]

    @property
    def sections(self) -> tuple[tuple[Clause, Section], ...]:
        return tuple((c, s) for c in self.clauses for s in c.sections)


def is_data(text: str) -> bool:
    """Whether a pragma is a data directive."""
    return _HEAD.match(text) is not None


def directive(text: str) -> DataDirective | None:
    """What a pragma says, None where it is no data directive. Raises Malformed."""
    head = _HEAD.match(text)
    if head is None:
        return None
    words = " ".join(head[1].split())
    kind = next((k for k in CLAUSES if k == words), None)
    if kind is None:
        help = f"write {_FORMS['enter data' if words == 'enter' else 'exit data']}"
        raise Malformed(head.start(1), words, f"'{words}' is no data directive", help)
    found = tuple(_clauses(text, head.end(), kind))
    if not any(c.sections for c in found):
        message = f"'{kind}' names no array"
        raise Malformed(head.start(1), kind, message, f"write {_FORMS[kind]}")
    names = [s.text for c in found for s in c.sections]
    for c in found:
        for s in c.sections:
            if names.count(s.text) > 1 and kind != "update":
                raise Malformed(s.at, s.text, f"'{s.text}' is named twice", "name it once")
    return DataDirective(kind, found)


def _clauses(text: str, at: int, kind: Kind) -> Iterator[Clause]:
    while rest := text[at:].lstrip(" \t,"):
        at = len(text) - len(rest)
        word = _WORD.match(rest)
        if word is None:
            raise Malformed(at, rest[0], f"'{rest[0]}' is no clause of '{kind}'", _known(kind))
        if word[0] not in CLAUSES[kind]:
            help = did_you_mean(word[0], CLAUSES[kind]) + _known(kind)
            raise Malformed(at, word[0], f"'{word[0]}' is no clause of '{kind}'", help)
        inside, end = _parenthesis(text, at + len(word[0]), word[0], at)
        yield Clause(word[0], at, tuple(_sections(text[inside:end], inside, word[0])))
        at = end + 1


def _parenthesis(text: str, at: int, word: str, start: int) -> tuple[int, int]:
    """Where what is in the parentheses of a clause begins and ends."""
    inside = len(text) - len(text[at:].lstrip()) + 1
    depth = 0
    for n in range(inside - 1, len(text)):
        depth += {"(": 1, ")": -1}.get(text[n], 0)
        if depth == 0:
            break
    else:
        raise Malformed(start, word, f"the parenthesis of '{word}' is not closed", _form(word))
    if text[inside - 1 : inside] != "(" or not text[inside:n].strip():
        raise Malformed(start, word, f"'{word}' names no array", _form(word))
    return inside, n


def _sections(text: str, start: int, word: str) -> Iterator[Section]:
    at = 0
    for part in split(text):
        at += text[at:].index(part) if part else 0
        yield _section(part, start + at, word)
        at += len(part)


def _section(text: str, at: int, word: str) -> Section:
    array = _PLACE.match(text)
    if array is None:
        raise Malformed(at, text or ")", f"'{text}' is no array", _form(word))
    dimensions, rest = [], text[array.end() :].lstrip()
    while rest:
        end = _closing(rest)
        low, colon, count = _parts(rest[1:end]) if end else ("", "", "")
        if not colon or not count:
            message = f"'{text}' is no array, and no elements of one"
            raise Malformed(at, text, message, f"{_form(word)}: the first element, and how many")
        dimensions.append(Dimension(low or "0", count))
        rest = rest[end + 1 :].lstrip()
    name = _WORD.match(text)
    assert name is not None
    return Section(at, text, name[0], array[0], tuple(dimensions))


def _closing(text: str) -> int:
    """Where the bracket closes that a text begins with; 0: it does not."""
    depth = 0
    for n, letter in enumerate(text if text.startswith("[") else ""):
        depth += {"[": 1, "]": -1}.get(letter, 0)
        if depth == 0:
            return n
    return 0


def _parts(text: str) -> tuple[str, str, str]:
    """What stands on the sides of the colon that belongs to no parentheses, and no `?`."""
    depth = 0
    for n, letter in enumerate(text):
        depth += {"(": 1, "[": 1, "?": 1, ")": -1, "]": -1}.get(letter, 0)
        if letter == ":" and depth == 0:
            return text[:n].strip(), ":", text[n + 1 :].strip()
        depth -= letter == ":"
    return text.strip(), "", ""


def _form(word: str) -> str:
    return f"write {word}(A) or {word}(A[0:n])"


def _known(kind: Kind) -> str:
    return f"its clauses are: {', '.join(CLAUSES[kind])}"
