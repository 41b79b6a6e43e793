"""Kernels that differ in numbers alone are one text, built with other macros.

    acc[4][6]  and  acc[8][6]   ->   acc[LX_1][6],  -DLX_1=4  and  -DLX_1=8

The preprocessor gives back each kernel token for token: what is built is what was written before.
Numbers that differ alike are one macro; those that stand for a tile size by its name are macros
already. Kernels that differ in a few lines as well are forms of one text (`forms`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import count, pairwise

from loopxform.codegen.opencl.forms import FORM, printed, side_by_side, without_choices
from loopxform.codegen.opencl.layout import in_rows, parameters_of
from loopxform.records import record

_NUMBER = re.compile(r"(?<![\w.])(?:(?<![eEpP][+-])(?:0|[1-9]\d*)|[A-Za-z_]\w*)(?![\w.])")
"""Whole tokens: no exponents, and none that are octal; names of macros."""

_LOCAL = "  __local "

_PASTED = re.compile(
    r"#.*|LX_(?!OFFSET\(|READ\(|TURN\(|SPREAD\(|IF\()\w+\((?:\w+, )*\d+|'(?:[^'\\\n]|\\.)+'"
)
"""What macros paste or make strings of, directives, characters: numbers there stay."""

MOST_MACROS = 100
"""Of a text; members that would need more have texts of their own."""

_HEAD = re.compile(r"^void (\w+)\(([^{]*)\)\n\{", re.MULTILINE)

Macros = tuple[tuple[str, int], ...]


@record
class Family:
    """A kernel's text, and the macros that its members are built with."""

    text: str
    members: tuple[tuple[int, Macros], ...]


def families(texts: Sequence[str], macros: Sequence[Macros]) -> tuple[Family, ...]:
    """The texts as few texts, in the order of their first members; every kernel has the same name.
    `macros` are those that each text is built with as it is."""
    tiles = {name for own in macros for name, _ in own}
    known = dict[str, _Line]()
    lines = [_Lines(text, tiles, known) for text in texts]
    alike: dict[tuple[str, ...], list[int]] = {}
    for n, own in enumerate(lines):
        alike.setdefault(own.skeletons, []).append(n)
    clusters: list[list[list[int]]] = []
    numbers = count(1)
    for members in alike.values():
        near = (c for c in clusters if _are_near([lines[x[0]] for x in c], lines[members[0]]))
        cluster = next(near, None)
        if cluster is None:
            clusters.append([members])
        else:
            cluster.append(members)
    return tuple(f for c in clusters for f in _families(lines, macros, c, numbers))


def _families(
    lines: Sequence[_Lines],
    macros: Sequence[Macros],
    forms: Sequence[list[int]],
    numbers: Iterator[int],
) -> tuple[Family, ...]:
    family = _family(lines, macros, forms, numbers)
    if all(len(own) <= MOST_MACROS for _, own in family.members):
        return (family,)
    parts = [[x] for x in forms] if len(forms) > 1 else [[[n]] for n in forms[0]]
    if len(forms) == 1 == len(forms[0]):
        return (Family(lines[forms[0][0]].text, ((forms[0][0], macros[forms[0][0]]),)),)
    return tuple(f for part in parts for f in _families(lines, macros, part, numbers))


def _are_near(cluster: Sequence[_Lines], other: _Lines) -> bool:
    """Whether a text has the parameters and local arrays of the others, and one text for all of
    them is much shorter than two."""
    if cluster[0].head != other.head:
        return False
    before = _length([x.skeletons for x in cluster])
    after = _length([*(x.skeletons for x in cluster), other.skeletons])
    return after - before < len(other.skeletons) * MOST_NEW


def _length(texts: Sequence[tuple[str, ...]]) -> int:
    return sum(1 for _ in printed(side_by_side(texts), len(texts)))


MOST_NEW = 0.5
"""Of the lines of a text, to be a form of another one."""


def named(text: str, name: str) -> str:
    """The kernel with another name."""
    m = _HEAD.search(text)
    assert m is not None, text
    head = in_rows(f"void {name}", list(parameters_of(m[2]))) + "\n{"
    return text[: m.start()] + head + text[m.end() :]


_Line = tuple[str, list[tuple[str, bool]], str]
"""The indentation, the pieces, and these without what numbers they are."""


def _line(text: str, tiles: set[str]) -> _Line:
    bare = text.lstrip()
    pieces = list(_marked(bare, tiles))
    skeleton = "".join("\0" if is_number else piece for piece, is_number in pieces)
    return text[: len(text) - len(bare)], pieces, skeleton


class _Lines:
    """A text by lines, numbers and indentation apart. A tile size by its name is a number, too."""

    def __init__(self, text: str, tiles: set[str], known: dict[str, _Line]) -> None:
        """`known` are lines of the texts before: kernels have most of them in common."""
        self.text = text
        lines = text.split("\n")
        for x in lines:
            if x not in known:
                known[x] = _line(x, tiles)
        found = [known[x] for x in lines]
        self.indents = [indent for indent, _, _ in found]
        self.pieces = [pieces for _, pieces, _ in found]
        self.skeletons = tuple(skeleton for _, _, skeleton in found)
        local = (n for n, x in enumerate(lines) if x.startswith(_LOCAL))
        self.head = self.skeletons[: max(local, default=self.skeletons.index("{")) + 1]


def _family(
    lines: Sequence[_Lines],
    macros: Sequence[Macros],
    forms: Sequence[list[int]],
    numbers: Iterator[int],
) -> Family:
    members = sorted(n for own in forms for n in own)
    form = {n: k for k, own in enumerate(forms) for n in own}
    names = _Names({n: dict(macros[n]) for n in members}, numbers)
    text = list[str]()
    for row in printed(side_by_side([lines[own[0]].skeletons for own in forms]), len(forms)):
        if isinstance(row, str):
            text.append(row)
            continue
        there = [n for n in members if form[n] in row]
        columns = zip(*(lines[n].pieces[row[form[n]]] for n in there))
        line = "".join(names.of(there, [piece for piece, _ in x]) for x in columns)
        text.append(lines[there[0]].indents[row[form[there[0]]]] + line)
    which = {n: ((FORM, k),) if len(forms) > 1 else () for n, k in form.items()}
    own = tuple((n, (*macros[n], *which[n], *names.macros(n))) for n in members)
    return Family("\n".join(without_choices(text)), own)


class _Names:
    """The macros of a text: one for all numbers that are the same in each member that has both.
    `numbers` number them, those of all texts of a program together."""

    def __init__(self, known: dict[int, dict[str, int]], numbers: Iterator[int]) -> None:
        self.known, self.numbers = known, numbers
        tiles = dict.fromkeys(name for own in known.values() for name in own)
        self.values = {t: {n: own[t] for n, own in known.items() if t in own} for t in tiles}

    def of(self, members: Sequence[int], column: Sequence[str]) -> str:
        """What stands for the number that members have at a place, each its own."""
        if len(set(column)) == 1:
            return column[0]
        values = {n: self._number(n, x) for n, x in zip(members, column)}
        name = next((m for m, own in self.values.items() if self._agree(own, values, m)), None)
        if name is None:
            name = f"LX_{next(self.numbers)}"
            self.values[name] = {}
        if name.startswith("LX_"):
            self.values[name] |= values
        return name

    def _number(self, member: int, text: str) -> int:
        return int(text) if text.isdecimal() else self.known[member][text]

    def _agree(self, own: dict[int, int], values: dict[int, int], name: str) -> bool:
        """Whether a macro can be these numbers; a tile size is what it is."""
        if not name.startswith("LX_"):
            return all(own.get(n) == v for n, v in values.items())
        return all(own.get(n, v) == v for n, v in values.items())

    def macros(self, member: int) -> Iterator[tuple[str, int]]:
        """Those of a member. Where it has none of the lines with a macro, that is 0."""
        own = (m for m in self.values if m.startswith("LX_"))
        return ((m, self.values[m].get(member, 0)) for m in own)


def _marked(text: str, tiles: set[str]) -> Iterator[tuple[str, bool]]:
    """The text in pieces, with whether each is a number that a macro may stand for."""
    fixed = [m.span() for m in _PASTED.finditer(text)]
    found = [m.span() for m in _NUMBER.finditer(text) if m[0].isdecimal() or m[0] in tiles]
    free = [(a, b) for a, b in found if not any(x <= a < y for x, y in fixed)]
    for (_, last), (a, b) in pairwise([(0, 0), *free, (len(text), len(text))]):
        yield text[last:a], False
        if b > a:
            yield text[a:b], True
