"""Variables inside functions that outlive a call, as variables of the file.

    void f(void) { extern int z; z = 1; }    ->    extern int z; void f(void) { z@0 = 1; }
    void f(void) { static int c = 1; c++; }  ->    static int c@static = 1; void f(void) {
                                                   c@static++; }

Whatever scope the name has, the variable is one: no call, and no iteration, has its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from pycparser import c_ast

from loopxform.frontend.desugar.names import declared, mentioned, of_file, static
from loopxform.frontend.syntax.tree import below, clone, every


def hoisted(node: c_ast.FuncDef) -> list[c_ast.Node]:
    """The declarations that go in front of `node`, whose text then names what they declare. One
    whose type the function itself declares stays where it is, and is not modelled."""
    if not any(map(_outlives, every(node.body))):
        return []
    out = _Hoisting(node.decl.name, declared(node))
    out.visit(node.body, {})
    return out.found


Names = Mapping[str, str]
"""What the names of hoisted variables become."""


class _Hoisting:
    def __init__(self, function: str, own: frozenset[str]) -> None:
        self.function = function
        self.own = own
        self.found: list[c_ast.Node] = []

    def visit(self, node: c_ast.Node, names: Names) -> Names:
        """Renames what stands for variables of the file: the `names`, until something else is
        called so. Gives the names that mean them behind `node`."""
        match node:
            case c_ast.ID() if node.name in names:
                node.name = names[node.name]
            case c_ast.Decl() if self._is_hoisted(node):
                return {**names, node.name: self._hoist(node)}
            case c_ast.Decl() | c_ast.Typedef() | c_ast.Enumerator():
                inner = {n: new for n, new in names.items() if n != node.name}
                self._inside(node, inner)
                return inner
            case c_ast.StructRef():
                self.visit(node.name, names)
            case c_ast.Compound():
                self._inside(node, names)
                node.block_items = [s for s in node.block_items or () if not self._is_hoisted(s)]
            case c_ast.DeclList() | c_ast.TypeDecl() | c_ast.Enum() | c_ast.EnumeratorList():
                return self._inside(node, names)
            case _:
                self._inside(node, names)
        return names

    def _inside(self, node: c_ast.Node, names: Names) -> Names:
        for child in below(node):
            names = self.visit(child, names)
        return names

    def _hoist(self, node: c_ast.Decl) -> str:
        """Declares the variable for the file; gives its name there."""
        made = cast(Any, clone(node))
        self.found.append(made)
        if "extern" in node.storage:
            return of_file(node.name)
        made.name = static(node.name, self.function, len(self.found))
        inner = made.type
        while not isinstance(inner, c_ast.TypeDecl):
            inner = inner.type
        inner.declname = made.name
        return str(made.name)

    def _is_hoisted(self, s: c_ast.Node) -> bool:
        if not _outlives(s):
            return False
        types = (n for n in every(s) if isinstance(n, c_ast.IdentifierType))
        words = frozenset(word for t in types for word in t.names)
        tags = any(isinstance(n, c_ast.Struct | c_ast.Union | c_ast.Enum) for n in every(s))
        if "static" in cast(Any, s).storage:  # a pointer may lead to what has another name
            tags = tags or any(isinstance(n, c_ast.PtrDecl) for n in every(cast(Any, s).type))
        return not tags and not (words | mentioned(s)) & self.own


def _outlives(s: c_ast.Node) -> bool:
    kept = isinstance(s, c_ast.Decl) and ("extern" in s.storage or "static" in s.storage)
    return kept and not isinstance(cast(Any, s).type, c_ast.FuncDecl)
