"""What the preprocessor (pcpp) takes for tokens: whole numbers of C, and blanks where two tokens
would be read as one.

    #define f 2          1.f and 3LL are one token each, in which no macro is replaced
    #define NEG -1       -NEG is - -1, not --1
"""

from __future__ import annotations

import re
from collections.abc import Callable
from copy import copy
from functools import cache
from typing import Any

from loopxform.frontend.text.reader import Reader

_NUMBER = re.compile(r"\.?\d(?:[eEpP][+-]|[\w.])*")
"""A preprocessing number (C11 6.4.8)."""
_MAY_JOIN = re.compile(r"[\w.\"'][\w.\"']|[eEpP][-+]|[-+*/%&|^<>=!:#.][-+*/%&|<>=:#.]")

_Above: Any = object

Token = Any
"""A token of pcpp, which has no types."""


class Numbers:
    """A lexer of pcpp that ends no number early."""

    def __init__(self, lexer: Any) -> None:
        self._lexer = lexer

    def __getattr__(self, name: str) -> Any:
        return getattr(self._lexer, name)

    @property
    def lineno(self) -> int:
        return int(self._lexer.lineno)

    @lineno.setter
    def lineno(self, line: int) -> None:
        self._lexer.lineno = line

    def clone(self) -> Numbers:
        return Numbers(self._lexer.clone())

    def token(self) -> Token:
        t = self._lexer.token()
        if t is None or not (t.value[:1].isdigit() or t.value == "."):
            return t
        found = _NUMBER.match(self._lexer.lexdata, t.lexpos)
        if found is not None and found.end() > t.lexpos + len(t.value):
            t.value, t.type = found.group(), "CPP_FLOAT"
            self._lexer.lexpos = found.end()
        return t


class Apart:
    """Tokens in the order in which they are written, with a blank in front of one that would be
    read as part of the one before it: macros put tokens next to each other."""

    def __init__(self, tokenize: Callable[[str], list[Token]]) -> None:
        self._tokenize, self._last = tokenize, ""
        self._join = cache(self._are_one)

    def blank(self, t: Token) -> bool:
        """Whether a blank has to be written in front of the next token."""
        before, self._last = self._last, str(t.value) or self._last
        if not (before and t.value):
            return False
        pair = before[-1] + self._last[0]
        return bool(_MAY_JOIN.match(pair)) and self._join(before, self._last)

    def _are_one(self, a: str, b: str) -> bool:
        if (a[-1] + b[0]) in ("//", "/*"):
            return True
        return [str(t.value) for t in self._tokenize(a + b)] != [a, b]


class Lexical(_Above):  # type: ignore[misc]  # pcpp has no types
    """What pcpp does with tokens, as C compilers do it."""

    _reader: Reader

    def __init__(self, lexer: Any) -> None:
        self._apart, self._waiting = Apart(self.tokenize), list[Token]()
        self._line, self._several_lines = 0, False
        super().__init__(Numbers(lexer))

    @property
    def linemacro(self) -> int | str:
        """What `__LINE__` stands for; its own name, which is declared nowhere, where `#line` counts
        and where compilers differ: in calls of macros that go over several lines."""
        return "__LINE__" if self._several_lines or self._reader.renumbered else self._line

    @linemacro.setter
    def linemacro(self, line: int) -> None:
        self._line, self._several_lines = line, False

    def token(self) -> Any:
        """The next token to write; a blank keeps it apart from the one before."""
        if self._waiting:
            return self._waiting.pop()
        t = super().token()
        if t is None or not self._apart.blank(t):
            return t
        self._waiting.append(t)
        blank = copy(t)
        blank.type, blank.value = self.t_SPACE, " "
        return blank

    def collect_args(self, tokens: list[Any], *options: Any, **more: Any) -> Any:
        """The arguments of a macro, in one line: pcpp counts the lines of a call twice where one
        ends inside an argument. The tokens themselves change, for of a variadic macro pcpp takes
        these."""
        found = super().collect_args(tokens, *options, **more)
        if self.linemacrodepth == 1:
            self._several_lines = len({t.lineno for t in tokens[: found[0]]}) > 1
        for t in tokens[: found[0]]:
            if t.type in self.t_WS and "\n" in t.value:
                t.value = " "
        return found
