"""Texts that differ in a few lines, side by side: what they share once, the rest under a test.

a; b; d  and  a; c; d   ->   a;
                             #if LX_FORM == 0
                             b;
                             #else
                             c;
                             #endif
                             d;
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import groupby

from loopxform.codegen.opencl.dialect import IF, OFFSET

FORM = "LX_FORM"
"""The macro that says which of the texts is meant, from 0 on."""

Row = dict[int, int]
"""A line: its number in each of the texts that have it."""


def side_by_side(texts: Sequence[Sequence[str]]) -> list[Row]:
    """The lines of texts, those of each in their order."""
    rows = [Row({0: n}) for n in range(len(texts[0]))]
    lines = list(texts[0])
    for k, text in enumerate(texts[1:], 1):
        joined, merged = list[Row](), list[str]()
        matcher = SequenceMatcher(None, lines, text, autojunk=False)
        for tag, first, last, own, end in matcher.get_opcodes():
            if tag == "equal":
                joined += ({**rows[n], k: own + n - first} for n in range(first, last))
                merged += lines[first:last]
                continue
            joined += [*rows[first:last], *(Row({k: n}) for n in range(own, end))]
            merged += [*lines[first:last], *text[own:end]]
        rows, lines = joined, merged
    return rows


def printed(rows: Sequence[Row], count: int) -> Iterator[Row | str]:
    """The lines in order, between the directives that choose among so many texts."""
    every = frozenset(range(count))
    left: frozenset[int] | None = None
    for forms, block in groupby(rows, key=frozenset):
        if left is not None:
            yield "#else" if forms == left else "#endif"
        if forms == left:
            yield from block
            yield "#endif"
            left = None
            continue
        left = None
        if forms != every:
            yield f"#if {_test(forms, every)}"
            left = every - forms
        yield from block
    if left is not None:
        yield "#endif"


def _test(forms: frozenset[int], every: frozenset[int]) -> str:
    if 2 * len(forms) > len(every):
        return " && ".join(f"{FORM} != {k}" for k in sorted(every - forms))
    return " || ".join(f"{FORM} == {k}" for k in sorted(forms))


def without_choices(lines: Sequence[str]) -> list[str]:
    """Lines without the macros that choose, where they have no choice."""
    gone, less = set[int](), [0] * len(lines)
    regions = list(_regions(lines))
    for n, line in enumerate(lines):
        if not line.lstrip().startswith(f"{IF}(0, "):
            continue
        end = next((k for k in range(n, len(lines)) if lines[k] == _indent(line) + "}"), None)
        if end is None or regions[end] != regions[n]:
            continue  # the brace at the end is that of other forms, too
        gone |= {n, end}
        for k in range(n, end):
            less[k] += 2
    kept = (x[min(less[n], len(_indent(x))) :] for n, x in enumerate(lines) if n not in gone)
    return [_chosen(x) for x in kept]


def _regions(lines: Sequence[str]) -> Iterator[tuple[int, ...]]:
    """For each line, the directives that it stands under."""
    under: tuple[int, ...] = ()
    for n, line in enumerate(lines):
        if line.startswith("#if"):
            under = (*under, n)
        elif line.startswith("#else"):
            under = (*under[:-1], n)
        elif line.startswith("#endif"):
            under = under[:-1]
        yield under


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def _chosen(line: str) -> str:
    line = line.replace(f"{OFFSET}(0)", "").replace(f"{OFFSET}(1)", "(ptrdiff_t)")
    return line.replace(f"{IF}(1, ", "if (")
