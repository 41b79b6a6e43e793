"""Declarations of other files' variables inside functions, as declarations of the file.

    void f(void) { extern int z; z = 1; }    ->    extern int z; void f(void) { z@0 = 1; }

Whatever scope the name has, the variable is one: no function, and no iteration, has its own.
"""

from __future__ import annotations

from pycparser import c_ast

from loopxform.frontend.desugar.names import declared, mentioned, of_file
from loopxform.frontend.syntax.tree import below, clone, every


def hoisted(node: c_ast.FuncDef) -> list[c_ast.Node]:
    """The declarations that go in front of `node`, whose text then names what they declare. One
    whose type the function itself declares stays where it is, and is not modelled."""
    if not any(map(_is_extern, every(node.body))):
        return []
    out = _Externs(declared(node))
    out.visit(node.body, frozenset())
    return out.found


class _Externs:
    def __init__(self, own: frozenset[str]) -> None:
        self.own = own
        self.found: list[c_ast.Node] = []

    def visit(self, node: c_ast.Node, names: frozenset[str]) -> frozenset[str]:
        """Renames what stands for variables of the file: the `names`, until something else is
        called so. Gives the names that mean them behind `node`."""
        match node:
            case c_ast.ID() if node.name in names:
                node.name = of_file(node.name)
            case c_ast.Decl() if self._is_hoisted(node):
                self.found.append(clone(node))
                return names | {node.name}
            case c_ast.Decl() | c_ast.Typedef() | c_ast.Enumerator():
                self._inside(node, inner := names - {node.name})
                return inner
            case c_ast.Compound():
                self._inside(node, names)
                node.block_items = [s for s in node.block_items or () if not self._is_hoisted(s)]
            case c_ast.DeclList() | c_ast.TypeDecl() | c_ast.Enum() | c_ast.EnumeratorList():
                return self._inside(node, names)
            case _:
                self._inside(node, names)
        return names

    def _inside(self, node: c_ast.Node, names: frozenset[str]) -> frozenset[str]:
        for child in below(node):
            names = self.visit(child, names)
        return names

    def _is_hoisted(self, s: c_ast.Node) -> bool:
        if not _is_extern(s):
            return False
        types = (n for n in every(s) if isinstance(n, c_ast.IdentifierType))
        words = frozenset(word for t in types for word in t.names)
        tags = any(isinstance(n, c_ast.Struct | c_ast.Union | c_ast.Enum) for n in every(s))
        return not tags and not (words | mentioned(s)) & self.own


def _is_extern(s: c_ast.Node) -> bool:
    return isinstance(s, c_ast.Decl) and "extern" in s.storage and not _is_function(s)


def _is_function(s: c_ast.Decl) -> bool:
    return isinstance(s.type, c_ast.FuncDecl)
