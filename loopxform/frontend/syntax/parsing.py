"""Parsing with pycparser; a declaration that cannot be parsed does not take the others with it."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import Any, cast

from pycparser import c_ast
from pycparser.c_parser import CParser, ParseError

from loopxform.budget import spend
from loopxform.errors import InputError
from loopxform.frontend.syntax.array_sizes import ArraySizes
from loopxform.frontend.syntax.complaints import TOO_DEEP, explain
from loopxform.frontend.syntax.declarations import (
    Chunk,
    Fault,
    chunk_at,
    external_declarations,
    place_of,
    without,
)
from loopxform.frontend.syntax.places import Places
from loopxform.records import record

# What the parser lets through on malformed input.
_BREAKS = (ValueError, AssertionError, AttributeError, TypeError, IndexError, KeyError)
_MESSAGE = re.compile(r"^(\d+):(\d+)(?::(\d+))?: (.*)$", re.DOTALL)


@record
class Tree:
    """What could be parsed, and the error of each declaration that could not."""

    ast: c_ast.FileAST
    problems: tuple[InputError, ...] = ()
    failed: tuple[tuple[str, InputError], ...] = ()


class _Parser(CParser):
    """Knows some names of types from the start, and heeds the limits in force."""

    def __init__(self, types: list[str]) -> None:
        super().__init__()
        self._types = types
        self._sizes = ArraySizes()

    @property
    def last(self) -> tuple[str, int, int]:
        """File, line and column of the last token that was read."""
        token = next((t for t in reversed(self._tokens._buffer) if t is not None), None)
        return (token.filename, token.lineno, token.column) if token else ("1", 1, 1)

    def _parse_translation_unit_or_empty(self) -> c_ast.FileAST:
        self._scope_stack[0].update(dict.fromkeys(self._types, True))
        return super()._parse_translation_unit_or_empty()

    def _build_declarations(self, *args: Any, **kwargs: Any) -> list[c_ast.Node]:
        made = super()._build_declarations(*args, **kwargs)
        self._sizes.read(made)
        return made

    def _parse_external_declaration(self) -> list[c_ast.Node]:
        spend()
        if self._is_old_style_int():
            decl = self._parse_id_declarator()
            made = cast(Any, c_ast).IdentifierType(["int"], coord=decl.coord)
            spec: Any = {"qual": [], "alignment": [], "storage": [], "function": [],
                         "type_attributes": [], "type": [made]}  # fmt: skip
            return [self._parse_function_definition(spec, decl)]
        nodes: list[c_ast.Node] = super()._parse_external_declaration()
        for n in nodes:
            if isinstance(n, c_ast.FuncDef) and not isinstance(n.decl.type, c_ast.FuncDecl):
                self._parse_error("before: {", n.body.coord)
        return nodes

    def _is_old_style_int(self) -> bool:
        """Whether `f(a, n) float *a; {` comes next: a function without a type is one of int. (The
        parser knows them where no declaration stands in front of the body.) A macro that is not
        defined may look like it; what follows that declares no parameters."""
        token = self._peek()
        if token is None or token.type != "ID" or self._peek_type(2) != "LPAREN":
            return False
        mark, depth, head = self._mark(), len(self._scope_stack), False
        self._push_scope()
        with suppress(ParseError):
            args = getattr(self._parse_id_declarator(), "args", None)
            names = {p.name for p in args.params if isinstance(p, c_ast.ID)} if args else set()
            if names and self._starts_declaration():
                declared = {getattr(d, "name", None) for d in self._parse_declaration_list()}
                head = declared <= names and self._peek_type() == "LBRACE"
        del self._scope_stack[depth:]
        self._reset(mark)
        return head


def parse(text: str, places: Places) -> Tree:
    """The syntax tree of preprocessed text; raises where not even the rest can be parsed.

    Each fault costs its declaration. Parsing goes on after it and knows the names of types that
    came before, so a file with many faults is read in little more time than one without.
    """
    problems: list[InputError] = []
    failed: list[tuple[str, InputError]] = []
    parsed: list[c_ast.Node] = []
    types: list[str] = []
    start, declarations, faulty = 0, list[Chunk](), set[Chunk]()
    while True:
        spend()
        rest = _attempt(text, start, len(text), types)
        if isinstance(rest, c_ast.FileAST):
            rest.ext = [*parsed, *rest.ext]
            return Tree(rest, tuple(problems), tuple(failed))
        error = explain(rest, text, places)
        declarations = declarations or external_declarations(text)
        chunk = chunk_at(text, start, rest, declarations)
        if chunk is None or chunk in faulty or not text[chunk.start : chunk.end].strip():
            raise problems[0] if problems else error
        faulty.add(chunk)
        problems.append(error)
        if chunk.name:
            failed.append((chunk.name, error))
        text = without(text, chunk)
        before = _attempt(text, start, chunk.start, types)
        if isinstance(before, c_ast.FileAST):
            parsed += before.ext
            types += [n.name for n in before.ext if isinstance(n, c_ast.Typedef)]
            start = chunk.end


def _attempt(text: str, start: int, end: int, types: list[str]) -> c_ast.FileAST | Fault:
    """A part of the text, parsed with the names of types that come before it."""
    if start == 0 and end == len(text):
        part = text
    else:
        file, line, column = place_of(text, start)
        part = f'#line {line} "{file}"\n{" " * (column - 1)}{text[start:end]}'
    parser = _Parser(types)
    try:
        return parser.parse(part, "1")
    except RecursionError:
        message = TOO_DEEP
    except ParseError as e:
        if m := _MESSAGE.match(str(e)):
            return Fault(m.group(4), int(m.group(1)), int(m.group(2)), int(m.group(3) or 1))
        message = str(e).partition(": ")[2] or str(e)
    except _BREAKS as e:
        message = str(e) or "cannot be parsed"
    name, line, column = parser.last
    return Fault(message, int(name), line, column)
