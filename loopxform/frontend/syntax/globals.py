"""What preprocessed text declares outside of functions, told from its words alone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property

from loopxform.frontend.syntax.declarations import Chunk, chunks
from loopxform.records import record

_TOKEN = re.compile(
    r'#[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|[A-Za-z_]\w*|\.?\d[\w.]*|->|\.{3}|[^\s\w]'
)
MARK = re.compile(r'^#line (\d+) "(\d+)"$', re.MULTILINE)
TAGS = ("struct", "union", "enum")
_SKIPPED = frozenset(["__attribute__", "__attribute", "__declspec", "_Alignas", "__asm__", "asm"])
_MEMBERS = "{}"
"""Stands for what braces hold that are no initialiser."""
_ENDS = (";", ",", "[", ":")
_QUALIFIERS = frozenset(["const", "volatile", "restrict", "__restrict", "__restrict__"])
_KEYWORDS = frozenset(
    re.findall(
        r"\w+",
        """auto break case char const continue default do double else enum extern float for goto if
        inline int long register restrict return short signed sizeof static struct switch typedef
        union unsigned void volatile while _Bool _Alignof _Static_assert __inline __inline__
        __extension__ __const __signed__ __restrict __restrict__ __attribute__ __attribute""",
    )
)


def words(text: str) -> list[str]:
    """The tokens of preprocessed text, without line marks and pragmas."""
    return [t for t in _TOKEN.findall(text) if t[0] != "#"]


def is_name(token: str) -> bool:
    return (token[0].isalpha() or token[0] == "_") and token not in _KEYWORDS


@record
class Piece:
    """An external declaration: its place in the text, the function that it defines, its tokens,
    the names that it declares (`struct s` for a tag), and those that it mentions."""

    chunk: Chunk
    tokens: tuple[str, ...]
    declares: frozenset[str]
    mentions: frozenset[str]

    @property
    def function(self) -> str | None:
        return self.chunk.name

    @property
    def head(self) -> tuple[str, ...]:
        """Of a function, what stands in front of its body."""
        return self.tokens[: self.tokens.index("{")] if "{" in self.tokens else self.tokens


class Globals:
    """The external declarations of a preprocessed text, by what they declare."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.chunks = chunks(text)
        """None where the braces of the text do not match."""

    @cached_property
    def pieces(self) -> tuple[Piece, ...]:
        return tuple(_piece(self.text, c) for c in self.chunks or ())

    @cached_property
    def first_function(self) -> int | None:
        """Where the first definition of a function of the file itself begins."""
        file, marks = 0, MARK.finditer(self.text)
        mark = next(marks, None)
        for p in self.pieces:
            while mark is not None and mark.end() < p.chunk.end:
                file, mark = int(mark[2]), next(marks, None)
            if p.function and file == 1:
                return p.chunk.start
        return None

    @cached_property
    def functions(self) -> dict[str, Piece]:
        """The functions that are defined."""
        return {p.function: p for p in self.pieces if p.function}

    @cached_property
    def declared(self) -> dict[str, list[Piece]]:
        """The declarations of each name, in order."""
        out: dict[str, list[Piece]] = {}
        for p in self.pieces:
            for name in p.declares:
                out.setdefault(name, []).append(p)
        return out


def _piece(text: str, chunk: Chunk) -> Piece:
    tokens = tuple(words(text[chunk.start : chunk.end]))
    if chunk.name:
        names = frozenset([chunk.name, *_tags(tokens)])
    else:
        names = frozenset([*_tags(tokens), *_declared(tokens)])
        if not names and not _declares_nothing(tokens):
            names = frozenset(_mentioned(tokens, body=True))  # whatever it is that it declares
    return Piece(chunk, tokens, names, frozenset(_mentioned(tokens, body=chunk.name is not None)))


def _declares_nothing(tokens: Sequence[str]) -> bool:
    """`;`, `struct s;`, `_Static_assert(...);`."""
    first = tokens[0] if tokens else ";"
    alone = first in TAGS and len(tokens) == 3
    return alone or first in (";", "_Static_assert", "asm", "__asm__", "__extension__")


def _tags(tokens: Sequence[str]) -> Iterator[str]:
    """The tags that get a meaning, and the constants of enumerations."""
    for n, t in enumerate(tokens):
        if t not in TAGS or n + 1 == len(tokens):
            continue
        opening = n + 1
        if is_name(tokens[n + 1]):
            opening = n + 2
            if tokens[opening : opening + 1] == ("{",):
                yield f"{t} {tokens[n + 1]}"
        if t == "enum" and tokens[opening : opening + 1] == ("{",):
            yield from _constants(tokens, opening)


def _constants(tokens: Sequence[str], opening: int) -> Iterator[str]:
    for n in range(opening, len(tokens)):
        if tokens[n] == "}":
            return
        if tokens[n] in "{," and n + 1 < len(tokens) and is_name(tokens[n + 1]):
            yield tokens[n + 1]


def _declared(tokens: Sequence[str]) -> Iterator[str]:
    """The names of the declarators, outside of braces."""
    for part in _declarators(tokens):
        name = _name_of(part)
        if name is not None:
            yield name


def _declarators(tokens: Sequence[str]) -> Iterator[list[str]]:
    """What commas separate, without initialisers, bodies and attributes."""
    part: list[str] = []
    depth = braces = 0
    initialiser = skipping = False
    for t in tokens:
        if t in _SKIPPED and not braces:
            skipping = True
            continue
        braces += (t == "{") - (t == "}")
        if braces or t == "}":
            if t == "}" and not (braces or initialiser):
                part.append(_MEMBERS)
            continue
        depth += (t in ("(", "[")) - (t in (")", "]"))
        if skipping:
            skipping = not (t in (")", "]") and depth == 0)
            continue
        if depth == 0 and t in (",", ";"):
            yield part
            part, initialiser = [], False
        elif depth == 0 and t == "=":
            initialiser = True
        elif not initialiser:
            part.append(t)
    if part:
        yield part


def _name_of(part: Sequence[str]) -> str | None:
    """`f` of `int f(int)`, `p` of `int (*p)[3]`, `a` of `int a[2]`."""
    for n, t in enumerate(part):
        if t == "(":
            if n and is_name(part[n - 1]) and part[n - 1] not in _QUALIFIERS:
                return part[n - 1]
            return next((x for x in part[n:] if is_name(x)), None)
        if t in ("[", ":"):
            return part[n - 1] if n and is_name(part[n - 1]) else None
    names = [t for t in part if is_name(t)]
    tagged = len(part) > 1 and part[-2] in TAGS
    return names[-1] if names and part[-1] == names[-1] and not tagged else None


def _mentioned(tokens: Sequence[str], *, body: bool) -> Iterator[str]:
    """The names that a declaration may mean; those of members are left out, outside of a `body`
    those that it declares as well."""
    braces = parens = 0
    for n, t in enumerate(tokens):
        braces += (t == "{") - (t == "}")
        parens += (t == "(") - (t == ")")
        if not is_name(t):
            continue
        before = tokens[n - 1] if n else ""
        after = tokens[n + 1] if n + 1 < len(tokens) else ""
        member = (after in _ENDS and not parens) or (before == "*" and after == ")")
        if before in TAGS:
            yield f"{before} {t}"
        elif before not in (".", "->", "goto") and (body or not (braces and member)):
            yield t


def signature(
    tokens: Sequence[str], name: str
) -> tuple[tuple[str, ...], tuple[str, ...] | None] | None:
    """The types that a function gives and takes, by the tokens of its declaration: `int f(T *x)`
    takes `T *`, one without a prototype None. None where that cannot be told."""
    first, *others = _declarators([t for t in tokens if t != "extern"])
    whole = next((p for p in (first, *others) if name in p), [])
    at = whole.index(name) if name in whole else 0
    returned = [*(_specifiers(first) if whole is not first else []), *whole[:at]]
    given = whole[at + 1 :]
    end = _closing(given)
    if given[:1] != ["("] or end is None or not returned:
        return None
    inside, old_style = given[1:end], given[end + 1 :]
    if not inside or old_style:
        return tuple(returned), None
    return None if "(" in inside else (tuple(returned), tuple(_types(inside)))


def _closing(tokens: Sequence[str]) -> int | None:
    """Where the first parenthesis is closed."""
    depth = 0
    for n, t in enumerate(tokens):
        depth += (t == "(") - (t == ")")
        if t == ")" and depth == 0:
            return n
    return None


def _specifiers(part: Sequence[str]) -> list[str]:
    """The type in front of the first of several declarators."""
    name = _name_of(part)
    ahead = list(part[: part.index(name)]) if name in part else []
    return [t for t in ahead if t != "*"]


def _types(parameters: Sequence[str]) -> Iterator[str]:
    parameter: list[str] = []
    for t in (*parameters, ","):
        if t != ",":
            parameter.append(t)
            continue
        named = len(parameter) > 1 and is_name(parameter[-1]) and parameter[-2] not in TAGS
        yield from (*(parameter[:-1] if named else parameter), ",")
        parameter = []


def is_constant(tokens: Sequence[str]) -> bool:
    """Whether a declaration of a variable keeps it from changing."""
    parts = list(_declarators(tokens))
    if len(parts) != 1 or "(" in parts[0] or "{" in tokens[: tokens.index(parts[0][-1])]:
        return False
    stars = [n for n, t in enumerate(parts[0]) if t == "*"]
    return "const" in parts[0][stars[-1] + 1 if stars else 0 :]


def plain_declaration(tokens: Sequence[str], storage: str) -> str | None:
    """A declaration of static variables with another storage class, without their values; None
    where it defines a type as well."""
    parts = list(_declarators(tokens))
    types = any(t in TAGS and "{" in tokens[n : n + 3] for n, t in enumerate(tokens))
    if types or "typedef" in tokens or not parts:
        return None
    said = ", ".join(" ".join(t for t in p if t != "static") for p in parts)
    return f"{storage} {said};"
