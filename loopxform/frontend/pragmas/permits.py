"""What pragmas say of floating point, by the lines of the statements that they are about.

    #pragma loopxform fp(fast)             in front of a function or of a loop: what is permitted
    #pragma STDC FP_CONTRACT OFF           forbids contraction to the end of the block or file;
                                           ON ends that
    #pragma clang fp contract(off)         the same; reassociate(off), reciprocal(off)
    #pragma GCC optimize ("no-fast-math")  forbids what the options do, to the end of the file
    __attribute__((optimize("...")))       the same in the whole file

Only the first permits anything: what a pragma of compilers permits, one compiler knows and another
does not. What it forbids counts, as all of them may be meant. (C11, 6.10.6 and 7.12.2.)
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, cast

from pycparser import c_ast

from loopxform.floating_point import LEVELS, Level, Part, Said, forbidden
from loopxform.frontend.names.callgraph import CallGraph
from loopxform.frontend.pragmas.annotated import read
from loopxform.frontend.pragmas.directives import pragma_text
from loopxform.frontend.syntax.places import Places
from loopxform.frontend.syntax.tree import every
from loopxform.ir.permits import NOTHING, Permits

_STDC = re.compile(r"(?:STDC\s+FP_CONTRACT|fp_contract)\s*\(?\s*(ON|OFF|DEFAULT)\b", re.IGNORECASE)
_CLANG = re.compile(r"clang\s+fp\b|float_control\b")
_WORDS = re.compile(r"(\w+)\s*[(,]\s*(\w+)")
_GCC = re.compile(r"GCC\s+optimize\b(.*)", re.DOTALL)
_ATTRIBUTE = re.compile(r"\b(?:__)?optimize(?:__)?\s*\(([^()]*)\)")
_STRING = re.compile(r'"([^"]*)"')
_FORBIDDEN: dict[tuple[str, str], Part] = {
    ("contract", "off"): "contract",
    ("reassociate", "off"): "reassociate",
    ("reciprocal", "off"): "approximate",
    ("exceptions", "strict"): "exact",
    ("except", "on"): "exact",
    ("precise", "on"): "reassociate",
}
_ENDED: dict[tuple[str, str], Part] = {
    ("contract", "on"): "contract",
    ("contract", "fast"): "contract",
    ("reassociate", "on"): "reassociate",
    ("reciprocal", "on"): "approximate",
}


def permits(ast: c_ast.FileAST, places: Places, text: str) -> Permits:
    """What is said in a file, which `text` is before attributes are taken out of it."""
    attributes = frozenset[Part]().union(*(_options(m[1]) for m in _ATTRIBUTE.finditer(text)))
    if not attributes and not _SPEAKS.search(text):
        return NOTHING
    found = _Walk(places, attributes)
    found.file(ast, Said(None, attributes))
    found.add_called()
    return Permits({file: _changes(marks) for file, marks in found.lines.items()})


_LABELS = (c_ast.Case, c_ast.Default, c_ast.Label)
_SPEAKS = re.compile(
    r"\bFP_CONTRACT\b|\bfp_contract\b|\bfloat_control\b|clang\s+fp\b|GCC\s+optimize\b"
    r"|\bfp\s*\("
)


def _changes(marks: dict[int, set[Said]]) -> tuple[tuple[int, frozenset[Said]], ...]:
    """Only the lines from which on something else is said."""
    out: list[tuple[int, frozenset[Said]]] = []
    for line in sorted(marks):
        said = frozenset(marks[line])
        if not out or out[-1][1] != said:
            out.append((line, said))
    return tuple(out)


class _Walk:
    """Goes through the statements of a file in order."""

    def __init__(self, places: Places, options: frozenset[Part]) -> None:
        """`options` are forbidden in the whole file."""
        self.places = places
        self.options = options
        self.lines: dict[str, dict[int, set[Said]]] = {}
        self.functions: dict[str, set[Said]] = {}
        self.calls: dict[str, set[str]] = {}
        self.calling: list[tuple[set[Said], frozenset[str]]] = []
        self.inside = set[Said]()

    def file(self, ast: c_ast.FileAST, said: Said) -> None:
        level: Level | None = None
        for node in ast.ext:
            if isinstance(node, c_ast.Pragma):
                said, level = self._pragma(node, said, level)
            elif isinstance(node, c_ast.FuncDef):
                own = replace(said, level=level)
                self._function(node, own)
                level = None

    def add_called(self) -> None:
        """What is said of a function is said where it is called: its text may stand there."""
        graph = CallGraph({name: frozenset(found) for name, found in self.calls.items()})
        for marks, names in self.calling:
            reached = frozenset[str]().union(*(graph.inside(n) for n in names))
            called = (x for n in reached for x in self.functions.get(n, ()))
            marks |= {x for x in called if x != Said()}

    def _function(self, node: c_ast.FuncDef, said: Said) -> None:
        before = len(self.calling)
        self.inside = self.functions.setdefault(node.decl.name, set())
        self._statement(node.decl, said)
        self._statement(node.body, said)
        calls = (names for _, names in self.calling[before:])
        self.calls[node.decl.name] = set[str]().union(*calls)

    def _statement(self, node: c_ast.Node, said: Said) -> Said:
        """Notes a statement, and gives what is said behind it: what a pragma behind a label forbids
        is forbidden in the block around, although the parser has it in a block with a statement."""
        loc = self.places.node(node)
        inside = tuple(_inside(node))
        self.inside.add(said)
        if loc is not None:
            marks = self.lines.setdefault(loc.file, {}).setdefault(loc.line, set())
            marks.add(said)
            names = frozenset(_called(node, inside))
            if names:
                self.calling.append((marks, names))
        if isinstance(node, c_ast.Compound):
            self._items(node.block_items or (), said)
        elif isinstance(node, _LABELS):
            items = (x for i in inside for x in getattr(i, "block_items", None) or (i,))
            behind = self._items(items, said)
            return replace(said, forbidden=said.forbidden | behind.forbidden)
        else:
            for inner in inside:
                self._statement(inner, said)
        return said

    def _items(self, items: Iterable[c_ast.Node], said: Said) -> Said:
        waiting: Level | None = None
        for item in items:
            if isinstance(item, c_ast.Pragma):
                said, waiting = self._pragma(item, said, waiting)
                continue
            level = said.level if waiting is None else waiting
            behind = self._statement(item, replace(said, level=level))
            said, waiting = replace(behind, level=said.level), None
        return said

    def _pragma(
        self, node: c_ast.Pragma, said: Said, level: Level | None
    ) -> tuple[Said, Level | None]:
        """What is said behind a pragma, and the level for the next statement."""
        text = pragma_text(node).strip()
        added, ended = set[Part](), set[Part]()
        if m := _STDC.match(text):
            (added if m[1].upper() == "OFF" else ended).add("contract")
        elif _CLANG.match(text):
            pairs = _WORDS.findall(text.lower())
            added = {_FORBIDDEN[x] for x in pairs if x in _FORBIDDEN}
            ended = {_ENDED[x] for x in pairs if x in _ENDED}
        elif m := _GCC.match(text):
            self.options |= _options(m[1])
        else:
            words = (w.argument or "" for w in read(node, self.places) if w.verb == "fp")
            asked = [x for w in words for x in LEVELS if x == w.strip()]
            return said, asked[-1] if asked else level
        return replace(said, forbidden=((said.forbidden | added) - ended) | self.options), level


def _inside(node: c_ast.Node) -> Iterator[c_ast.Node]:
    """The statements directly in another."""
    for name in ("iftrue", "iffalse", "stmt", "stmts"):
        inner = getattr(node, name, None)
        if inner is not None:
            yield from inner if isinstance(inner, list) else (inner,)


def _called(node: c_ast.Node, inside: Sequence[c_ast.Node]) -> Iterator[str]:
    """The functions that are called in a statement itself, not in those `inside`."""
    if isinstance(node, c_ast.Compound):
        return
    apart = {id(x) for x in inside}
    for _, child in cast(Any, node).children():
        if id(child) not in apart:
            yield from (x.name for x in every(child) if isinstance(x, c_ast.ID))
    if isinstance(node, c_ast.FuncCall) and isinstance(node.name, c_ast.ID):
        yield node.name.name


def _options(text: str) -> frozenset[Part]:
    """What the options in the strings of `optimize` forbid: -f may be left out, and -O."""
    words = [w.strip() for m in _STRING.finditer(text) for w in m[1].split(",")]
    flags = [w if w.startswith("-") else f"-{w}" if w[:1] == "O" else f"-f{w}" for w in words]
    return forbidden(flags)
