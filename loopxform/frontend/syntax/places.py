"""From the parser's coordinates to places in the user's files.

The parser sees expanded text, so a column can be off on a line with macros, and a prefix operator
is placed at its operand: the raw text decides.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from pycparser import c_ast
from pycparser.c_parser import Coord

from loopxform.frontend.desugar.counted import CountedDo, CountedWhile
from loopxform.frontend.desugar.leaving_loops import Leaving
from loopxform.frontend.desugar.names import shown, written
from loopxform.source import NOWHERE, Loc, Origin, Sources

_PREFIX = frozenset(["*", "&", "-", "+", "!", "~", "++", "--"])


INLINE = "inline"


@dataclass(slots=True)
class Inlined(Coord):
    """A place inside a function whose body stands where it is called."""

    function: str = ""

    @classmethod
    def at(cls, coord: Coord | None, function: str) -> Inlined | None:
        return None if coord is None else cls(coord.file, coord.line, coord.column, function)


class Places:
    """Places of one translation unit; `files[k]` is the file the parser knows as `k`."""

    def __init__(self, files: list[str], sources: Sources) -> None:
        self.files = files
        self.sources = sources
        self._locs: dict[tuple[int, int, int, str], Loc] = {}
        self._texts: dict[Loc, str] = {}

    def file(self, coord: object) -> int:
        """The number of the file of a coordinate: 1 is the user's own, 0 the prelude."""
        name = getattr(coord, "file", "0")
        return int(name) if name.isdigit() else 0

    def loc(self, coord: object, word: str = "") -> Loc | None:
        """The place of a coordinate where `word` is expected to stand."""
        k = self.file(coord)
        if k == 0:
            return None
        line: int = getattr(coord, "line", 1)
        column: int = getattr(coord, "column", None) or 1
        key = (k, line, column, word)
        found = self._locs.get(key)
        if found is None:
            raw = self.sources.line(Loc(self.files[k], line, 1)) or ""
            found = self._locs[key] = Loc(self.files[k], line, _column(raw, column, word))
        return found

    def node(self, node: c_ast.Node) -> Loc | None:
        """The place where `node` starts."""
        loc = self.loc(node.coord, head(node))
        if loc is None or not isinstance(node, c_ast.UnaryOp) or node.op not in _PREFIX:
            return loc
        before = (self.sources.line(loc) or "")[: loc.column - 1].rstrip(" (")
        if before.endswith(node.op):
            return Loc(loc.file, loc.line, len(before) - len(node.op) + 1)
        return loc

    def origin(self, node: c_ast.Node) -> Origin:
        loc = self.node(node)
        if loc is None:
            return NOWHERE
        if isinstance(node.coord, Inlined):
            return Origin(loc, (f"{INLINE} {node.coord.function}",))
        return Origin(loc)

    def text(self, loc: Loc | None) -> str:
        """The raw line at `loc`, without blanks around it."""
        if loc is None:
            return ""
        found = self._texts.get(loc)
        if found is None:
            found = self._texts[loc] = (self.sources.line(loc) or "").strip()
        return found


def _column(raw: str, column: int, word: str) -> int:
    """The column of `word` on a raw line, the nearest to `column`."""
    if not word or raw.startswith(word, column - 1):
        return column
    pattern = rf"\b{re.escape(word)}\b" if word[0].isalnum() or word[0] == "_" else re.escape(word)
    found = [m.start() + 1 for m in re.finditer(pattern, raw)]
    if found:
        return min(found, key=lambda c: abs(c - column))
    return len(raw) - len(raw.lstrip()) + 1


_KEYWORDS = {
    c_ast.For: "for",
    CountedWhile: "while",
    CountedDo: "do",
    c_ast.If: "if",
    c_ast.While: "while",
    c_ast.DoWhile: "do",
    c_ast.Switch: "switch",
    c_ast.Return: "return",
    c_ast.Break: "break",
    c_ast.Continue: "continue",
    c_ast.Goto: "goto",
    Leaving: "goto",
}


def head(node: c_ast.Node) -> str:
    """The first word of a construct, as far as the parser's coordinate points to it."""
    match node:
        case c_ast.ID():
            return written(node.name)
        case c_ast.Label():
            return shown(node.name)
        case c_ast.Decl():
            return shown(node.name or "")
        case c_ast.Constant():
            return str(node.value)
        case c_ast.ArrayRef() | c_ast.FuncCall() | c_ast.StructRef():
            return head(node.name)
        case c_ast.Assignment():
            return head(node.lvalue)
        case c_ast.BinaryOp():
            return head(node.left)
        case c_ast.UnaryOp():
            return "" if node.op in ("sizeof", "_Alignof") else head(node.expr)
        case c_ast.TernaryOp():
            return head(node.cond)
        case c_ast.ExprList():
            return head(node.exprs[0]) if node.exprs else ""
        case c_ast.Cast():
            return "("
        case _:
            return _KEYWORDS.get(type(node), "")
