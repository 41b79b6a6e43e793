"""The statements of raw C text and where they begin and end, macros left as they are.

    piece ::= block(piece*) | if(piece, piece?) | loop(piece) | switch(piece) | label(piece)
            | case(piece) | pragma | other

What macros hide (braces, statements without semicolon) makes a skeleton that does not agree with
the syntax tree, or a splice that does not parse to the same tree: both are looked at before text is
changed.
"""

from __future__ import annotations

import re
from bisect import bisect_left

from loopxform.records import record

_TOKEN = re.compile(
    r"""(?P<pragma>^[ ]*\#[ ]*pragma\b(?:[^\n\\]|\\[ ]*\n|\\.)*)
      | (?P<directive>^[ ]*\#(?:[^\n\\]|\\[ ]*\n|\\.)*)
      | (?P<text>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')
      | (?P<word>[A-Za-z_]\w*)
      | (?P<mark>[^\s\w])
      | (?P<number>\d[\w.]*)""",
    re.VERBOSE | re.MULTILINE | re.DOTALL,
)
_PAIRS = {"(": ")", "[": "]", "{": "}"}


@record
class Token:
    kind: str
    text: str
    start: int
    end: int


@record
class Piece:
    """A statement: text[start:end], and the statements directly inside it."""

    kind: str
    start: int
    end: int
    parts: tuple[Piece, ...] = ()


class Odd(Exception):
    """The text does not have the form of statements that can be replaced: for a `reason` where one
    is known, with what helps and where it is."""

    def __init__(self, reason: str = "", help: str = "", at: int | None = None) -> None:
        super().__init__(reason)
        self.reason, self.help, self.at = reason, help, at


def characters(raw: bytes) -> str:
    """A character for each byte; blanks and newlines are the only space."""
    text = raw.decode("latin-1").replace("\\\r\n", " \\\n")
    return re.sub(r"[\t\v\f\r]", " ", text)


class Skeleton:
    """The text of a file as tokens; `text` has no comments."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = [
            Token(m.lastgroup or "", m.group(), m.start(), m.end()) for m in _TOKEN.finditer(text)
        ]
        self.starts = [t.start for t in self.tokens]
        self.at = 0

    def body(self, name: str, line: int) -> tuple[int, Piece]:
        """Where the definition of a function begins, and its body; `line` is that of its name.
        Raises Odd."""
        word = self._word(name, line)
        brace = word + 1
        while self._text(brace) != "{" or self._inside(word, brace):
            brace += 1
        begin = word
        while begin > 0 and self._before(begin):
            begin -= 1
        self.at = brace
        return self.tokens[begin].start, self.statement()

    def directive(self, start: int, end: int) -> int | None:
        """Where an include is, or another directive that brings text."""
        first, last = bisect_left(self.starts, start), bisect_left(self.starts, end)
        kept = ("define", "undef")
        inside = (t for t in self.tokens[first:last] if t.kind == "directive")
        return next((t.start for t in inside if not t.text.lstrip(" #").startswith(kept)), None)

    # ------------------------------------------------------------ functions

    def _word(self, name: str, line: int) -> int:
        """The place of the name of a function, in front of its parameters."""
        begin = _offset(self.text, line)
        for n in range(bisect_left(self.starts, begin), len(self.tokens) - 1):
            if self.tokens[n].text == name and self._text(n + 1) in ("(", ")"):
                return n
        raise Odd

    def _inside(self, first: int, last: int) -> bool:
        """Whether parentheses that open after `first` are open at `last`."""
        if last >= len(self.tokens):
            raise Odd
        texts = [t.text for t in self.tokens[first:last] if t.kind == "mark"]
        return texts.count("(") > texts.count(")")

    def _before(self, n: int) -> bool:
        """Whether the token before belongs to the same declaration."""
        t = self.tokens[n - 1]
        return t.kind not in ("directive", "pragma") and t.text not in (";", "}")

    # ------------------------------------------------------------ statements

    def statement(self) -> Piece:
        """The statement that begins at the present token, which is passed. Raises Odd."""
        start = self._peek()
        match start.text:
            case _ if start.kind == "directive":
                self.at += 1
                return self.statement()
            case _ if start.kind == "pragma":
                return self._after_pragmas(start)
            case "{":
                return self._block(start)
            case "if":
                return self._if(start)
            case "for" | "while" | "switch":
                self._head()
                body = self.statement()
                return Piece(start.text, start.start, body.end, (body,))
            case "do":
                return self._do(start)
            case "case" | "default":
                return self._case(start)
            case _ if start.kind == "word" and self._is_label():
                self.at += 2
                body = self.statement()
                return Piece("label", start.start, body.end, (body,))
            case _ if start.kind == "word" and self._text(self.at + 1) == "(":
                return self._call(start)
            case _:
                return Piece("other", start.start, self._semicolon())

    def _block(self, start: Token) -> Piece:
        self.at += 1
        parts: list[Piece] = []
        while self._peek().text != "}":
            here = self._peek()
            if here.kind in ("directive", "pragma"):
                self.at += 1
                if here.kind == "pragma":
                    parts.append(Piece("pragma", here.start, here.end))
            else:
                parts.append(self.statement())
        self.at += 1
        return Piece("block", start.start, self.tokens[self.at - 1].end, tuple(parts))

    def _after_pragmas(self, start: Token) -> Piece:
        """Pragmas and the statement they stand in front of, where one statement is due."""
        parts: list[Piece] = []
        while self._peek().kind == "pragma":
            here = self._peek()
            parts.append(Piece("pragma", here.start, here.end))
            self.at += 1
        parts.append(self.statement())
        return Piece("pragmas", start.start, parts[-1].end, tuple(parts))

    def _if(self, start: Token) -> Piece:
        self._head()
        parts = [self.statement()]
        if self.at < len(self.tokens) and self._peek().text == "else":
            self.at += 1
            parts.append(self.statement())
        return Piece("if", start.start, parts[-1].end, tuple(parts))

    def _call(self, start: Token) -> Piece:
        """A call, or a macro that stands for the head of a loop."""
        before = self.at
        self._head()
        if self._peek().kind == "word" or self._peek().text == "{":
            body = self.statement()
            return Piece("for", start.start, body.end, (body,))
        self.at = before
        return Piece("other", start.start, self._semicolon())

    def _case(self, start: Token) -> Piece:
        """A label of a `switch`, and the statement behind it."""
        while self._peek().text not in (":", ";", "{", "}", "?"):
            if self._peek().text in _PAIRS:
                self._group()
            else:
                self.at += 1
        if self._peek().text != ":":
            raise Odd
        self.at += 1
        body = self.statement()
        return Piece("case", start.start, body.end, (body,))

    def _do(self, start: Token) -> Piece:
        self.at += 1
        body = self.statement()
        return Piece("do", start.start, self._semicolon(), (body,))

    def _head(self) -> None:
        """Passes a keyword and what is in parentheses after it."""
        self.at += 1
        if self._peek().text != "(":
            raise Odd
        self._group()

    def _group(self) -> None:
        """Passes a bracket with all that is in it."""
        waiting: list[str] = []
        while True:
            text = self._peek().text if self._peek().kind == "mark" else ""
            if text in _PAIRS:
                waiting.append(_PAIRS[text])
            elif text in _PAIRS.values() and text != waiting.pop():
                raise Odd
            self.at += 1
            if not waiting:
                return

    def _semicolon(self) -> int:
        """Passes everything to a semicolon; returns where it ends."""
        while (t := self._peek()).text != ";":
            if t.kind in ("directive", "pragma") or t.text in (")", "]", "}"):
                raise Odd
            if t.text in _PAIRS:
                self._group()
            else:
                self.at += 1
        self.at += 1
        return t.end

    def _is_label(self) -> bool:
        return self._text(self.at + 1) == ":"

    def _peek(self) -> Token:
        if self.at >= len(self.tokens):
            raise Odd
        return self.tokens[self.at]

    def _text(self, n: int) -> str:
        if n >= len(self.tokens):
            raise Odd
        return self.tokens[n].text if self.tokens[n].kind != "text" else ""


def _offset(text: str, line: int) -> int:
    """Where a line begins, counted from 1."""
    at = 0
    for _ in range(line - 1):
        at = text.find("\n", at) + 1
    return at
