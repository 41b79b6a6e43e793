"""A copy of a function's text for one call: new names, arguments, and places that say so."""

from __future__ import annotations

from typing import Any, cast

from pycparser import c_ast

from loopxform.frontend.desugar import build
from loopxform.frontend.desugar.callee import Callee
from loopxform.frontend.desugar.names import Fresh, of_file
from loopxform.frontend.syntax.places import Inlined
from loopxform.frontend.syntax.tree import clone, copied, replace_children


class Copier:
    """Copies parts of a callee. `names` are the new names of what the function declares."""

    def __init__(self, callee: Callee, fresh: Fresh) -> None:
        self.callee = callee
        self.names = {n: fresh.name(n) for n in sorted(callee.own)}
        self.replaced: dict[str, c_ast.Node] = {}

    def replace(self, param: c_ast.Decl, argument: c_ast.Node) -> None:
        """Lets an argument stand for a parameter, with the parameter's type."""
        self.replaced[param.name] = build.cast_to(self.copy(param.type), argument)

    def copy(self, node: c_ast.Node) -> c_ast.Node:
        return self._renamed(copied(node, self._place))

    def _place(self, n: c_ast.Node) -> None:
        cast(Any, n).coord = Inlined.at(n.coord, self.callee.name)

    def _renamed(self, node: c_ast.Node) -> c_ast.Node:
        match node:
            case c_ast.ID():
                if node.name in self.replaced:
                    return clone(self.replaced[node.name])
                node.name = self.names.get(node.name) or of_file(node.name)
                return node
            case c_ast.FuncCall(name=c_ast.ID() as called) if called.name not in self.names:
                if node.args is not None:
                    replace_children(node.args, self._renamed)
                return node
            case c_ast.NamedInitializer():  # a member; what names an element is not read
                node.expr = self._renamed(node.expr)
                return node
            case c_ast.StructRef():
                node.name = self._renamed(node.name)
                return node
            case c_ast.Decl() if node.name in self.names:
                node.name = self.names[node.name]
            case c_ast.TypeDecl() if node.declname in self.names:
                node.declname = self.names[node.declname]
        replace_children(node, self._renamed)
        return node
