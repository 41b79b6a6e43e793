"""Which external declarations some statements need: those of the names that they mention, and of
the names that these mention in turn.

Unions are always needed: they say of structs which they hold that pointers to other types may lead
to them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, cast

from pycparser import c_ast

from loopxform.frontend.outline.aside import of_function
from loopxform.frontend.syntax.places import Places
from loopxform.frontend.syntax.tree import every


class Declarations:
    """Those of a file, by their places in it."""

    def __init__(self, external: Sequence[c_ast.Node]) -> None:
        self.external = external
        self.declaring: dict[str, list[int]] = {}
        self.mentioned: list[frozenset[str]] = []
        self.always: list[int] = []
        for n, e in enumerate(external):
            node = e.decl if isinstance(e, c_ast.FuncDef) else e
            inside = list(every(node))
            for name in _declared(node, inside):
                self.declaring.setdefault(name, []).append(n)
            self.mentioned.append(frozenset(_mentioned(inside)))
            if any(isinstance(x, c_ast.Union) and x.decls is not None for x in inside):
                self.always.append(n)

    def with_parts(
        self, owned: Mapping[int, Sequence[c_ast.Node]], defined: Collection[str], places: Places
    ) -> Iterator[c_ast.Node]:
        """The file, and behind each function what stands for parts of it, each with the pragmas
        that are about the whole function. Only the functions that are `defined` have a body, and
        what nothing needs is left out."""
        bodies = (e for e in self.external if _name(e) in defined)
        needed = self.needed([*bodies, *(part for several in owned.values() for part in several)])
        before: list[c_ast.Node] = []
        for n, e in enumerate(self.external):
            match e:
                case c_ast.Pragma():
                    before.append(e)
                    continue
                case c_ast.FuncDef():
                    if e.decl.name in defined:
                        yield from (*before, e)
                    elif n in needed:
                        yield e.decl
                    for part in owned.get(id(e), ()):
                        yield from (*before, *of_function(e.body, places), part)
                case _:
                    yield from (*before, e) if n in needed else before
            before = []

    def needed(self, nodes: Iterable[c_ast.Node]) -> set[int]:
        """The places of what is needed."""
        found = set(self.always)
        names = {name for node in nodes for name in _mentioned(every(node))}
        waiting = [*names, *(name for n in found for name in self.mentioned[n])]
        names |= set(waiting)
        while waiting:
            for n in self.declaring.get(waiting.pop(), ()):
                if n not in found:
                    found.add(n)
                    waiting += self.mentioned[n] - names
                    names |= self.mentioned[n]
        return found


def _name(e: c_ast.Node) -> str | None:
    return e.decl.name if isinstance(e, c_ast.FuncDef) else None


def _declared(node: c_ast.Node, inside: Sequence[c_ast.Node]) -> Iterator[str]:
    name = getattr(node, "name", None)
    if isinstance(node, c_ast.Decl | c_ast.Typedef) and name:
        yield name
    yield from (x.name for x in inside if isinstance(x, c_ast.Enumerator))
    yield from (x.name for x in inside if isinstance(x, _TAGGED) and x.name and _has_members(x))


_TAGGED = c_ast.Struct | c_ast.Union | c_ast.Enum


def _has_members(x: c_ast.Node) -> bool:
    return (cast(Any, x).values if isinstance(x, c_ast.Enum) else cast(Any, x).decls) is not None


def _mentioned(nodes: Iterable[c_ast.Node]) -> Iterator[str]:
    for x in nodes:
        if isinstance(x, c_ast.ID):
            yield x.name
        elif isinstance(x, c_ast.IdentifierType):
            yield from x.names
        elif isinstance(x, _TAGGED) and x.name:
            yield x.name
