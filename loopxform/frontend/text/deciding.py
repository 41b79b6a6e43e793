"""Which of the decisions of macros a function depends on.

Found in the raw text of the files, all branches of conditionals included. What stands at file
scope is a piece: a `#define`, a declaration, a function. It introduces names, mentions others, and
depends on the conditions around it and in it. A function depends on the pieces that introduce what
it mentions, and so on; where that cannot be told (names that are pasted, braces that do not match),
on all there is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from operator import or_

from loopxform.budget import spend
from loopxform.frontend.text import prelude
from loopxform.ir.decisions import Event, Line

_CONTINUED = re.compile(r"\\[ \t]*\n")
_DEFINED = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)(\()?", re.MULTILINE)
_DIRECTIVE = re.compile(r"[ \t]*#[ \t]*(\w*)(.*)")
_TOKEN = re.compile(r"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|[A-Za-z_]\w*|[^\s\w]")
_WORD = re.compile(r"[A-Za-z_]\w*")
_SYSTEM = re.compile(r"\s*<([^>]+)>")
_AFTER = frozenset(";,=[({):}")
_ANYTHING = "##"
"""A word of pieces that may mention any name."""

_KEYWORDS = frozenset(
    re.findall(
        r"\w+",
        """auto break case char const continue default do double else enum extern float for goto if
        inline int long register restrict return short signed sizeof static struct switch typedef
        union unsigned void volatile while defined __attribute__ __declspec""",
    )
)


@dataclass
class Piece:
    """A part of a file at file scope; what it `introduces` is None where nobody knows."""

    introduces: set[str] | None
    words: set[str]
    groups: list[_Group] = field(default_factory=list)
    macro: str = ""
    """The macro that it defines."""

    @cached_property
    def mentioned(self) -> set[str]:
        """Its own words and those of the conditions that it depends on."""
        return self.words.union(*(g.words for g in self.groups))


@dataclass(eq=False)
class _Group:
    """A conditional: the words of its conditions, and how deep in braces it begins."""

    words: set[str]
    depth: int
    otherwise: bool = False


class Decisions:
    """What macros decided of the functions of a file, by the names that its pieces mention."""

    def __init__(self, events: Sequence[Event], texts: Iterable[str]) -> None:
        """`texts` are those of all files, the C file first, without comments."""
        self._events = tuple(dict.fromkeys(events))
        asked = {name for e in events if not isinstance(e, Line) for name in e.names}
        self._bits = {name: 1 << n for n, name in enumerate([_ANYTHING, *sorted(asked)])}
        whole = [_CONTINUED.sub("", text) for text in texts]
        macros = {m[1]: bool(m[2]) for text in whole for m in _DEFINED.finditer(text)}
        pieces = [p for n, text in enumerate(whole) for p in _pieces(text, macros, header=n > 0)]
        _link(pieces)
        self._reached = _reached(pieces, self._bits) if asked else {}
        self._always = _mask((n for p in pieces if p.introduces is None for n in p.mentioned),
                             {**self._bits, **self._reached})  # fmt: skip

    def of(self, function: str, *, file: bool = False) -> tuple[Event, ...]:
        """The events that decide what a function says, or what the whole file does."""
        if file:
            return _trimmed(list(self._events))
        if len(self._bits) == 1:
            return ()
        needed = self._always | self._reached.get(function, self._bits[_ANYTHING])
        if needed & self._bits[_ANYTHING]:
            return _trimmed(list(self._events))
        names = {name for name, bit in self._bits.items() if bit & needed}
        return _trimmed([e for e in self._events if isinstance(e, Line) or e.names & names])


def _mask(names: Iterable[str], bits: Mapping[str, int]) -> int:
    """The bits of those names that have some."""
    return reduce(or_, (bits[name] for name in names if name in bits), 0)


def _reached(pieces: Sequence[Piece], bits: Mapping[str, int]) -> dict[str, int]:
    """The names with bits that each introduced name depends on, itself included, as their bits."""
    reached = {name: bits.get(name, 0) for p in pieces for name in p.introduces or ()}
    mentioned = [_mask(p.mentioned, bits) for p in pieces]
    linked = [[name for name in p.mentioned if name in reached] for p in pieces]
    changing = True
    while changing:  # once for what stands in the order of C, and again for what does not
        changing = False
        spend()
        for n, p in enumerate(pieces):
            mask = _mask(linked[n], reached) | mentioned[n]
            for name in p.introduces or ():
                if mask | reached[name] != reached[name]:
                    reached[name] |= mask
                    changing = True
    return reached


def _trimmed(events: list[Event]) -> tuple[Event, ...]:
    """Without lines that no answer is behind of, headers included."""
    while events and isinstance(events[-1], Line):
        events.pop()
    if all(isinstance(e, Line) or e.bare for e in events):
        return tuple(e for e in events if not isinstance(e, Line))
    return tuple(events)


def _link(pieces: Sequence[Piece]) -> None:
    """A macro whose name is declared somewhere renames that: `#define step lib_step`."""
    declared = {n for p in pieces if not p.macro for n in p.introduces or ()}
    for p in pieces:
        if p.macro in declared and p.introduces is not None:
            p.introduces |= p.words - _KEYWORDS
            p.words.add(p.macro)


def _pieces(text: str, macros: Mapping[str, bool], *, header: bool) -> list[Piece]:
    """Those of a file; one that introduces anything where its braces do not match. Of `macros` it
    is known whether they take arguments."""
    scan = _Scan(macros)
    for line in text.splitlines():
        spend()
        m = _DIRECTIVE.fullmatch(line)
        if m is None:
            scan.text(line)
        else:
            scan.directive(m.group(1), m.group(2))
    pieces = [*scan.pieces, *([Piece(None, {_ANYTHING})] if scan.depth else [])]
    return list(_unguarded(pieces)) if header else pieces


def _unguarded(pieces: list[Piece]) -> Iterator[Piece]:
    """Without the group around all of a header, which keeps it from being read twice."""
    first = pieces[0] if pieces else None
    guard = first.groups[0] if first and first.groups else None
    if guard is None or first is None or first.introduces != guard.words or first.words:
        return iter(pieces)
    if not all(p.groups and p.groups[0] is guard for p in pieces):
        return iter(pieces)
    inside = (replace(p, groups=p.groups[1:]) for p in pieces)
    return (p for p in inside if p.groups or p.introduces is not None)


class _Scan:
    """The pieces so far, and the one that is being read."""

    def __init__(self, macros: Mapping[str, bool]) -> None:
        self.macros = macros
        self.pieces: list[Piece] = []
        self.groups: list[_Group] = []
        self.depth = 0
        self._begin()

    def _begin(self) -> None:
        self.piece = Piece(set(), set())
        self.declared, self.last, self.is_function = set[str](), "", False
        self.parens = list[bool]()
        self.recent = ("", "")
        self.outside = set[str]()

    def _end(self) -> None:
        called = any(self.macros.get(w, False) for w in self.outside)
        if called or not self.declared.isdisjoint(self.macros):
            # A macro may stand for the name, or behind it.
            self.declared |= {w for w in self.outside if not self.macros.get(w, False)}
        self.pieces.append(replace(self.piece, introduces=self.declared - _KEYWORDS or None))
        self._begin()

    def text(self, line: str) -> None:
        tokens = _TOKEN.findall(line)
        if self._only_mentions(tokens):
            if tokens:
                self._group()
            self.piece.words.update(filter(_WORD.match, tokens))
            self.last = tokens[-1] if tokens else self.last
            return
        for token in tokens:
            self._add(token)

    def _only_mentions(self, tokens: Sequence[str]) -> bool:
        """Whether a line inside of braces begins and ends nothing, and declares no constants."""
        if self.depth == 0 or "enum" in self.piece.words:
            return False
        beginning = "{" in tokens or "}" in tokens or "enum" in tokens
        return not beginning and tokens.count("(") == tokens.count(")")

    def _group(self) -> None:
        """The conditions around are some of the piece's."""
        self.piece.groups += [g for g in self.groups if g not in self.piece.groups]

    def _add(self, token: str) -> None:
        """Takes a token. What is declared stands in front of one of `_AFTER`, outside of parameters
        and bodies; of an enum the constants do too."""
        self._group()
        is_word = _WORD.match(self.last) is not None
        outside = self.depth == 0 and all(self.parens)
        alone = token == ")" and self.recent[1] == "(" and self.depth == 0  # (f)(int x)
        if is_word and token in _AFTER and (outside or alone or "enum" in self.piece.words):
            self.declared.add(self.last)
        if token == self.last == "(" and len(self.parens) == 1:  # f OF((int x))
            self.declared.update(w for w in self.recent if _WORD.match(w))
        self.recent = (*self.recent[1:], self.last)
        before, self.last = self.last, token
        if _WORD.match(token):
            self.piece.words.add(token)
            if self.depth == 0:
                self.outside.add(token)
        elif token == "(":
            self.parens.append(before in _KEYWORDS)
        elif token == "*" and before == "(" and self.parens:  # (*f)(int x)
            self.parens[-1] = True
        elif token == ")" and self.parens:
            self.parens.pop()
        elif token == "{":
            self.is_function |= self.depth == 0 and before in (")", "")
            self.depth += 1
        elif token == "}":
            self.depth = max(self.depth - 1, 0)
            if self.depth == 0 and self.is_function:
                self._end()
        elif token == ";" and self.depth == 0:
            self._end()

    def directive(self, name: str, rest: str) -> None:
        words = set(_WORD.findall(rest))
        match name:
            case "if" | "ifdef" | "ifndef":
                self.groups.append(_Group(words, self.depth))
            case "elif" | "else" if self.groups:
                self.groups[-1].words |= words
                self.groups[-1].otherwise |= name == "else"
                self.depth = self.groups[-1].depth
            case "endif" if self.groups:
                group = self.groups.pop()
                self.depth = self.depth if group.otherwise else group.depth
            case "define" | "undef":
                pasted = {_ANYTHING} if "##" in rest else set[str]()
                first = _WORD.findall(rest)[:1]
                self._apart(set(first), (words - set(first)) | pasted, "".join(first))
            case "include" if self.groups:
                m = _SYSTEM.match(rest)
                known = m and (prelude.TYPES.get(m[1], {}) | prelude.MACROS.get(m[1], {}))
                self._apart({x.partition("(")[0] for x in known} if known else None, words)
            case "pragma":
                self.text(rest)

    def _apart(self, introduces: set[str] | None, words: set[str], macro: str = "") -> None:
        self.pieces.append(Piece(introduces, words, list(self.groups), macro))
