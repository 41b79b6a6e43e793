"""The text of `#pragma omp`: the words of the construct, then clauses with arguments.

    omp parallel for private(i, j) reduction(+: s) schedule(static, 4) nowait

A reader of text only: which objects the names stand for is asked of the scope it stands in.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from loopxform.records import record

_WORDS_TEXT = """parallel for simd sections section single master masked critical atomic barrier
    taskwait taskyield task taskloop taskgroup flush target teams distribute loop threadprivate
    declare cancel cancellation scope scan depobj requires allocate interop metadirective"""
WORDS = frozenset(_WORDS_TEXT.split())
_AFTER = {
    "target": frozenset(["data", "enter", "exit", "update"]),
    "enter": frozenset(["data"]),
    "exit": frozenset(["data"]),
    "cancellation": frozenset(["point"]),
    "declare": frozenset(["target", "reduction", "mapper", "variant"]),
}
ALONE = frozenset(["barrier", "taskwait", "taskyield", "flush", "cancel", "cancellation"])
_DECLARATIVE = frozenset(["threadprivate", "declare", "requires", "depobj", "allocate"])
_NAMED = frozenset(["critical", "threadprivate", "flush"])
"""Constructs whose name takes an argument itself."""

_WITH_LIST_TEXT = """private firstprivate lastprivate shared reduction linear threadprivate copyin
    copyprivate aligned nontemporal uniform in_reduction task_reduction"""
_WITH_LIST = frozenset(_WITH_LIST_TEXT.split())
_WORD = re.compile(r"[A-Za-z_]\w*")
_NUMBER = re.compile(r"(0[xX][0-9a-fA-F]+|\d+)[uUlL]*$")
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")


@record
class Written:
    """One clause: its name and the text in its parentheses, None where it has none."""

    name: str
    argument: str | None


def identifiers(text: str) -> frozenset[str]:
    """Every identifier of a pragma: what its scope may be asked about."""
    return frozenset(_IDENTIFIER.findall(text))


def directive(text: str) -> tuple[tuple[str, ...], tuple[Written, ...]] | None:
    """The words and clauses of a pragma; None where it is not OpenMP."""
    m = re.match(r"\s*omp\b", text)
    if m is None:
        return None
    parts = _parts(text[m.end() :])
    words: list[str] = []
    clauses: list[Written] = []
    for part in parts:
        if not clauses and _continues(words, part):
            words.append(part.name)
            if part.argument is not None:
                clauses.append(part)
        else:
            clauses.append(part)
    return tuple(words), tuple(clauses)


def stands_alone(words: tuple[str, ...], clauses: tuple[Written, ...]) -> bool:
    """Whether the directive governs no statement: `barrier`, `ordered depend(...)`."""
    if words[:1] == ("ordered",):
        return any(c.name in ("depend", "doacross") for c in clauses)
    if words[:1] == ("target",) and len(words) > 1 and words[1] in ("enter", "exit", "update"):
        return True
    return not words or words[0] in ALONE | _DECLARATIVE


def _continues(words: list[str], part: Written) -> bool:
    """Whether a word still belongs to the name of the construct."""
    if not words and part.name == "ordered":
        return part.argument is None
    if words and part.name in _AFTER.get(words[-1], ()):
        return True
    return part.name in WORDS and (part.argument is None or part.name in _NAMED)


def _parts(text: str) -> list[Written]:
    """Words and parenthesised arguments, commas between them skipped."""
    out: list[Written] = []
    at = 0
    while m := _WORD.search(text, at):
        at = m.end()
        rest = text[at:]
        blanks = len(rest) - len(rest.lstrip())
        if not rest[blanks:].startswith("("):
            out.append(Written(m.group(), None))
            continue
        end = _closing(text, at + blanks)
        out.append(Written(m.group(), text[at + blanks + 1 : end].strip()))
        at = end + 1
    return out


def _closing(text: str, at: int) -> int:
    """Where the parenthesis at `at` is closed; the end of the text where it is not."""
    depth = 0
    for n in range(at, len(text)):
        depth += {"(": 1, ")": -1}.get(text[n], 0)
        if depth == 0:
            return n
    return len(text)


def split(text: str, mark: str = ",") -> list[str]:
    """`text` at the marks outside parentheses and brackets, blanks stripped."""
    out, depth, start = [], 0, 0
    for n, c in enumerate(text):
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(c, 0)
        if c == mark and depth == 0:
            out.append(text[start:n].strip())
            start = n + 1
    return [*out, text[start:].strip()]


def parts_of(
    clause: Written, value: Callable[[str], int | None]
) -> tuple[str, list[str], int | None]:
    """Modifier, names and number of a clause; `value` gives the number a text stands for."""
    text = clause.argument or ""
    if clause.name in ("reduction", "in_reduction", "task_reduction"):
        head, _, tail = text.partition(":")
        return split(head)[-1], _names(tail), None
    if clause.name == "linear":
        found = split(text, ":")
        step = value(found[1]) if len(found) > 1 else 1
        inner = re.sub(r"\b(?:val|ref|uval)\s*\(([^()]*)\)", r"\1", found[0])
        return "", _names(inner), step
    if clause.name in ("lastprivate", "firstprivate", "private") and ":" in text:
        head, _, tail = text.partition(":")
        return head.strip(), _names(tail), None
    if clause.name == "map":
        return "", _names(split(text, ":")[-1]), None
    if clause.name in _WITH_LIST:
        return "", _names(text), None
    if clause.name == "schedule":
        kind, *rest = split(split(text, ":")[-1])
        return kind, [], value(rest[0]) if rest else None
    return "", [], value(split(text, ":")[-1])


def _names(text: str) -> list[str]:
    """The variables of a list; of an array section the array."""
    found = (_IDENTIFIER.match(item) for item in split(text))
    return [m.group() for m in found if m]


def number(text: str) -> int | None:
    """An integer literal of C."""
    m = _NUMBER.match(text.strip())
    if m is None:
        return None
    digits = m.group(1)
    octal = len(digits) > 1 and digits[0] == "0" and digits.isdigit()
    return int(digits, 8 if octal else 0)
