"""Parsing with pycparser; a declaration that cannot be parsed does not take the others with it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pycparser import c_ast
from pycparser.c_lexer import CLexer, Token
from pycparser.c_parser import CParser, ParseError

from loopxform.errors import InputError
from loopxform.frontend.chunks import Fault, chunk_at, without
from loopxform.frontend.complaints import TOO_DEEP, explain
from loopxform.frontend.places import Places

_ATTEMPTS = 50
# What the parser lets through on malformed input.
_BREAKS = (ValueError, AssertionError, AttributeError, TypeError, IndexError, KeyError)
_MESSAGE = re.compile(r"^(\d+):(\d+)(?::(\d+))?: (.*)$", re.DOTALL)


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
        error = explain(found, text, places)
        chunk = chunk_at(text, found)
        if chunk is None or not text[chunk.start : chunk.end].strip():
            raise problems[0] if problems else error
        problems.append(error)
        if chunk.name:
            failed.append((chunk.name, error))
        text = without(text, chunk)
    raise problems[0]


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
        message = TOO_DEEP
    except ParseError as e:
        if m := _MESSAGE.match(str(e)):
            return Fault(m.group(4), int(m.group(1)), int(m.group(2)), int(m.group(3) or 1))
        message = str(e).partition(": ")[2] or str(e)
    except _BREAKS as e:
        message = str(e) or "cannot be parsed"
    file, line, column = getattr(parser.clex, "last", ("1", 1, 1))
    return Fault(message, int(file), line, column)
