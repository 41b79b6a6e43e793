"""Parsing with pycparser; a declaration that cannot be parsed does not take the others with it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise

from pycparser import c_ast
from pycparser.c_lexer import CLexer, Token
from pycparser.c_parser import CParser, ParseError

from loopxform.errors import InputError
from loopxform.frontend.places import Places
from loopxform.frontend.rawtext import blank
from loopxform.source import Loc

_ATTEMPTS = 50
_TOO_DEEP = "nested too deeply for the parser"
# What the parser lets through on malformed input.
_BREAKS = (ValueError, AssertionError, AttributeError, TypeError, IndexError, KeyError)
_MESSAGE = re.compile(r"^(\d+):(\d+)(?::(\d+))?: (.*)$", re.DOTALL)
_MARK = re.compile(r'#line (\d+) "(\d+)"$')
_TOKEN = re.compile(
    r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|#[^\n]*|[(){};]|[A-Za-z_]\w*|[^\s\w]'
)
_NAME = re.compile(r"([A-Za-z_]\w*)\s*\(")
_KEYWORD_TEXT = """auto break case char const continue default do double else enum extern float for
    goto if inline int long register restrict return short signed sizeof static struct switch
    typedef union unsigned void volatile while _Bool _Complex"""
_KEYWORDS = frozenset(_KEYWORD_TEXT.split())


@dataclass(frozen=True)
class Fault:
    """Why the parser stopped: a message and the number, line and column it gives."""

    message: str
    file: int
    line: int
    column: int


@dataclass(frozen=True)
class Chunk:
    """One external declaration of the preprocessed text; `name` of the function it defines."""

    start: int
    end: int
    name: str | None


@dataclass(frozen=True)
class Tree:
    """What could be parsed, and the error of each declaration that could not."""

    ast: c_ast.FileAST
    problems: tuple[InputError, ...] = ()
    failed: tuple[tuple[str, InputError], ...] = ()


class _Lexer(CLexer):
    """Remembers the last token, for errors that come without a place."""

    last: tuple[str, int, int] = ("1", 1, 1)

    def token(self) -> Token | None:
        tok = super().token()
        if tok is not None:
            self.last = (tok.filename, tok.lineno, tok.column)
        return tok


def parse(text: str, places: Places) -> Tree:
    """The syntax tree of preprocessed text; raises where not even the rest can be parsed."""
    problems: list[InputError] = []
    failed: list[tuple[str, InputError]] = []
    for _ in range(_ATTEMPTS):
        found = _attempt(text)
        if isinstance(found, c_ast.FileAST):
            return Tree(found, tuple(problems), tuple(failed))
        error = _explain(found, text, places)
        chunk = _chunk_at(text, found)
        if chunk is None or not text[chunk.start : chunk.end].strip():
            raise problems[0] if problems else error
        problems.append(error)
        if chunk.name:
            failed.append((chunk.name, error))
        text = text[: chunk.start] + _blank_chunk(text, chunk) + text[chunk.end :]
    raise problems[0]


def _blank_chunk(text: str, chunk: Chunk) -> str:
    """Blanks, but line marks stay: what follows keeps its place."""
    lines = text[chunk.start : chunk.end].split("\n")
    return "\n".join(x if _MARK.match(x) else blank(x) for x in lines)


def _attempt(text: str) -> c_ast.FileAST | Fault:
    try:
        return CParser().parse(text, "1")
    except (ParseError, RecursionError, *_BREAKS):
        # Once more with a lexer that remembers where it is: slower, so not in the first place.
        return _fault(text)


def _fault(text: str) -> Fault:
    """Where and why the parser stops."""
    parser = CParser(lexer=_Lexer)
    try:
        parser.parse(text, "1")
        message = "cannot be parsed"
    except RecursionError:
        message = _TOO_DEEP
    except ParseError as e:
        if m := _MESSAGE.match(str(e)):
            return Fault(m.group(4), int(m.group(1)), int(m.group(2)), int(m.group(3) or 1))
        message = str(e).partition(": ")[2] or str(e)
    except _BREAKS as e:
        message = str(e) or "cannot be parsed"
    file, line, column = getattr(parser.clex, "last", ("1", 1, 1))
    return Fault(message, int(file), line, column)


# ---------------------------------------------------------------- external declarations


def chunks(text: str) -> list[Chunk] | None:
    """The external declarations of `text`; None where braces do not match."""
    out: list[Chunk] = []
    start, depth, previous, body = 0, 0, "", False
    for m in _TOKEN.finditer(text):
        t = m.group()
        if t[0] == "#" and len(t) > 1:
            continue
        if t in "({":
            body = body or (t == "{" and depth == 0 and previous == ")")
            depth += 1
        elif t in ")}":
            depth -= 1
        if depth < 0:
            return None
        if depth == 0 and (t == ";" or (t == "}" and body)):
            name = _NAME.search(text, start, m.end()) if body else None
            out.append(Chunk(start, m.end(), name.group(1) if name else None))
            start, body = m.end(), False
        previous = t
    if depth:
        return None
    if text[start:].strip():
        out.append(Chunk(start, len(text), None))
    return out


def _by_margin(text: str) -> list[Chunk]:
    """External declarations by layout, where braces do not match: a } at the margin ends one."""
    ends = [m.end() for m in re.finditer(r"^\}.*$", text, re.MULTILINE)]
    out = []
    for start, end in zip([0, *ends], [*ends, len(text)]):
        name = _NAME.search(text, start, end)
        out.append(Chunk(start, end, name.group(1) if name else None))
    return out


def _chunk_at(text: str, fault: Fault) -> Chunk | None:
    """The external declaration that holds the place of a fault."""
    offset = _offset(text, fault)
    if offset is None:
        return None
    every = chunks(text) or _by_margin(text)
    return next((c for c in every if c.start <= offset < c.end), None)


def _offset(text: str, fault: Fault) -> int | None:
    """The offset in the preprocessed text of a place the parser names."""
    at, file, line = 0, 1, 0
    for raw in text.split("\n"):
        line += 1
        if m := _MARK.match(raw):
            file, line = int(m.group(2)), int(m.group(1)) - 1
        elif (file, line) == (fault.file, fault.line):
            return at + min(fault.column - 1, len(raw))
        at += len(raw) + 1
    return None


# ---------------------------------------------------------------- messages


def _explain(fault: Fault, text: str, places: Places) -> InputError:
    """The parser's complaint in words, at the user's place."""
    loc = Loc(places.files[fault.file], fault.line, fault.column) if fault.file else None
    offset = _offset(text, fault)
    unknown = None if offset is None else _unknown_type(text, offset)
    if unknown and "llegal" not in fault.message and "onstant" not in fault.message:
        name, at = unknown
        where = _loc_of(text, at, places) or loc
        help = "include the header that declares it (-I DIR), or define it (-D NAME=TYPE)"
        return InputError(f"unknown type name '{name}'", loc=where, help=help, width=len(name))
    message, help = _words(fault.message)
    if message.startswith("syntax error before"):
        loc = _snap(loc, message.split("'", 1)[1][:-1], places)
    if offset is not None and "__attribute" in text[max(offset - 80, 0) : offset + 12]:
        help = "an attribute that changes a type is not read; guard it with #ifdef"
    return InputError(message, loc=loc, help=help)


def _words(message: str) -> tuple[str, str | None]:
    """The parser's message and a remedy, as we say it."""
    if message.startswith("before: "):
        return f"syntax error before '{message.removeprefix('before: ').strip()}'", None
    if "end of input" in message.lower():
        return "the file ends inside a declaration", "check that every { has its }"
    if message == _TOO_DEEP:
        return message, "split the statement into several"
    return f"syntax error: {message[:1].lower()}{message[1:]}", None


def _snap(loc: Loc | None, token: str, places: Places) -> Loc | None:
    """`loc` moved to `token` on the raw line, where macros shifted it."""
    raw = places.sources.line(loc) if loc else None
    if loc is None or raw is None or raw.startswith(token, loc.column - 1) or token not in raw:
        return loc
    return Loc(loc.file, loc.line, raw.index(token) + 1)


def _loc_of(text: str, offset: int, places: Places) -> Loc | None:
    """The user's place of an offset in the preprocessed text."""
    at, file, line = 0, 1, 0
    for raw in text.split("\n"):
        line += 1
        if m := _MARK.match(raw):
            file, line = int(m.group(2)), int(m.group(1)) - 1
        if at <= offset <= at + len(raw):
            loc = Loc(places.files[file], line, offset - at + 1)
            return _snap(loc, _word_at(text, offset), places) if file else None
        at += len(raw) + 1
    return None


def _word_at(text: str, offset: int) -> str:
    m = re.compile(r"\w+").match(text, offset)
    return m.group() if m else ""


def _unknown_type(text: str, offset: int) -> tuple[str, int] | None:
    """An identifier at a fault that stands where a type must: before a name or a star."""
    start = max(text.rfind(c, 0, offset) for c in "(;{},") + 1
    tokens = list(_TOKEN.finditer(text, start, min(offset + 80, len(text))))
    for first, second in pairwise(tokens):
        name = first.group()
        if first.start() > offset:
            return None
        if not (name[0].isalpha() or name[0] == "_") or name in _KEYWORDS:
            continue
        follows = second.group()
        is_name = follows[0].isalpha() or follows[0] == "_"
        if (is_name or follows == "*") and not _declared_type(text, name):
            return name, first.start()
        return None
    return None


def _declared_type(text: str, name: str) -> bool:
    return re.search(rf"typedef\b[^;]*\b{re.escape(name)}\b", text) is not None
