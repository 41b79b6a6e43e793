"""Kernels that differ in numbers alone are one text, built with other macros.

    acc[4][6]  and  acc[8][6]   ->   acc[LX_1][6],  -DLX_1=4  and  -DLX_1=8

The preprocessor gives back each kernel token for token: what is built is what was written before.
Numbers that differ alike are one macro; those that stand for a tile size by its name are macros
already.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from loopxform.records import record

_NUMBER = re.compile(r"(?<![\w.])(?<![eEpP][+-])(?:0|[1-9]\d*)(?![\w.])")
"""Whole tokens: no exponents, and none that are octal."""

_PASTED = re.compile(r"#.*|LX_\w+\((?:\w+, )*\d+|'(?:[^'\\\n]|\\.)+'")
"""What macros paste or make strings of, directives, characters: numbers there stay."""

MOST_MACROS = 100
"""Of a text; members that would need more have texts of their own."""

_HEAD = re.compile(r"^void (\w+)\((?:[^{]*)\)\n\{", re.MULTILINE)

Macros = tuple[tuple[str, int], ...]


@record
class Family:
    """A kernel's text, and the macros that its members are built with."""

    text: str
    members: tuple[tuple[int, Macros], ...]


def families(texts: Sequence[str], macros: Sequence[Macros]) -> tuple[Family, ...]:
    """The texts as few texts, in the order of their first members; every kernel has the same name.
    `macros` are those that each text is built with as it is."""
    members: dict[str, list[int]] = {}
    for n, text in enumerate(texts):
        members.setdefault(_skeleton(text), []).append(n)
    return tuple(f for own in members.values() for f in _families(texts, macros, own))


def _families(
    texts: Sequence[str], macros: Sequence[Macros], members: Sequence[int]
) -> tuple[Family, ...]:
    family = _family(texts, macros, members)
    if any(len(own) > MOST_MACROS for _, own in family.members):
        return tuple(_family(texts, macros, [n]) for n in members)
    return (family,)


def named(text: str, name: str) -> str:
    """The kernel with another name, its parameters below one another."""
    m = _HEAD.search(text)
    assert m is not None, text
    head = m.group().replace(f"\n{' ' * (6 + len(m[1]))}", f"\n{' ' * (6 + len(name))}")
    head = head.replace(f"void {m[1]}(", f"void {name}(", 1)
    return text[: m.start()] + head + text[m.end() :]


def _family(texts: Sequence[str], macros: Sequence[Macros], members: Sequence[int]) -> Family:
    rows = [list(_pieces(texts[n])) for n in members]
    known = {
        name: tuple(dict(macros[n]).get(name) for n in members) for name, _ in macros[members[0]]
    }
    new: dict[tuple[int, ...], str] = {}
    out = []
    for column in zip(*rows):
        if len(set(column)) == 1:
            out.append(column[0])
            continue
        values = tuple(map(int, column))
        name = next((n for n, same in known.items() if same == values), None)
        out.append(name or new.setdefault(values, f"LX_{len(new) + 1}"))
    own = [tuple((name, values[k]) for values, name in new.items()) for k in range(len(members))]
    return Family(
        "".join(out),
        tuple((n, (*macros[n], *extra)) for n, extra in zip(members, own)),
    )


def _skeleton(text: str) -> str:
    """The text without its numbers."""
    return "".join("\0" if is_number else piece for piece, is_number in _marked(text))


def _pieces(text: str) -> Iterator[str]:
    return (piece for piece, _ in _marked(text))


def _marked(text: str) -> Iterator[tuple[str, bool]]:
    """The text in pieces, with whether each is a number that a macro may stand for."""
    fixed = [m.span() for m in _PASTED.finditer(text)]
    found = [m.span() for m in _NUMBER.finditer(text)]
    free = [(a, b) for a, b in found if not any(x <= a < y for x, y in fixed)]
    for (_, last), (a, b) in pairwise([(0, 0), *free, (len(text), len(text))]):
        yield text[last:a], False
        if b > a:
            yield text[a:b], True
