"""How the text of a kernel is laid out: a line for a loop with its hint, no braces around a single
statement, parameters in rows. Nothing here changes a token but braces that C does not need.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

UNROLL = "LX_UNROLL"
"""Begins a loop that the kernel compiler is to unroll (templates/kernels.cl.j2)."""

WIDEST = 100
"""Columns of a row of parameters."""

SIMD = "LX_SIMD_"
"""Begins a loop that the kernel compiler is to have in vectors of so many iterations."""

_PRAGMA = re.compile(r"^[ \t]*#pragma (unroll|simd (\d+))\n([ \t]*)(?=for )", re.MULTILINE)
_HINT = rf"(?:{UNROLL}|{SIMD}\d+)"

_OPENED = re.compile(rf"^ *(?:(?:{_HINT} )?for|if|LX_IF) ?\(.*\{{$")
"""A loop or a condition with a body in braces."""

_SEVERAL = re.compile(rf"^ *(?:LX_SPREAD\b|(?!(?:return|{_HINT})\b)\w+ +\*?\w)")
"""Begins declarations, and the macro that stands for several statements."""

_DECLARED = re.compile(r"^( +(?:const )?(?:u?int|(?:float|double|half)\d*)) (\w[^{};]*;)$")
"""A declaration of one or several variables: its type, and what it declares."""

_HEAD = re.compile(rf"^ *(?:(?:{_HINT} )?for|if|LX_IF)\b")


def hinted(text: str) -> str:
    """With the hints in front of their loops, on the same line."""
    return _PRAGMA.sub(lambda m: f"{m[3]}{SIMD + m[2] if m[2] else UNROLL} ", text)


def in_rows(head: str, parameters: Sequence[str]) -> str:
    """`head`, then the parameters, as many in a row as fit, below one another."""
    rows, indent = [f"{head}({parameters[0] if parameters else ''}"], " " * (len(head) + 1)
    for parameter in parameters[1:]:
        if len(rows[-1]) + len(parameter) + len(", ,") > WIDEST:
            rows[-1] += ","
            rows.append(indent + parameter)
        else:
            rows[-1] += f", {parameter}"
    return "\n".join(rows) + ")"


def unbraced(text: str) -> str:
    """Without braces around bodies that are one statement, where no `else` is near."""
    lines = text.split("\n")
    dropped = set[int]()
    for n in reversed(range(len(lines))):
        if _OPENED.match(lines[n]) and (end := _end(lines, n)) is not None:
            body = [k for k in range(n + 1, end) if k not in dropped]
            if _is_statement(lines, body):
                lines[n] = lines[n].removesuffix(" {")
                dropped.add(end)
    return "\n".join(x for n, x in enumerate(lines) if n not in dropped)


def _end(lines: Sequence[str], start: int) -> int | None:
    """The closing brace of a body, where nothing follows it on its line."""
    indent = _indent(lines[start])
    for n in range(start + 1, len(lines)):
        if lines[n].startswith("#"):
            return None  # lines of several forms
        if lines[n].strip() and _indent(lines[n]) <= indent:
            return n if lines[n] == " " * indent + "}" else None
    return None


def _is_statement(lines: Sequence[str], body: Sequence[int]) -> bool:
    """Whether the lines are one statement that may stand alone."""
    if body and lines[body[0]].lstrip().startswith("/*"):
        body = body[1:]
    if not body or _SEVERAL.match(lines[body[0]]):
        return False
    first, *others = (lines[n] for n in body)
    if not others:
        return first.endswith(";")
    if not _HEAD.match(first) or any(x.lstrip(" }").startswith("else") for x in others):
        return False
    inside = others[:-1] if others[-1] == " " * _indent(first) + "}" else others
    return all(_indent(x) > _indent(first) for x in inside)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def joined(text: str) -> str:
    """With declarations of one type that follow each other on one line, as far as they fit."""
    rows: list[str] = []
    for line in text.split("\n"):
        known, new = (_DECLARED.match(rows[-1]) if rows else None), _DECLARED.match(line)
        longer = f"{rows[-1][:-1]}, {new[2]}" if known and new else ""
        if known and new and known[1] == new[1] and len(longer) <= WIDEST:
            rows[-1] = longer
        else:
            rows.append(line)
    return "\n".join(rows)


def parameters_of(text: str) -> Iterator[str]:
    """The parameters of a head, whatever rows they stand in."""
    return (p for p in re.split(r",\s+", text) if p)
