"""Nodes of C that stand at the place of others, and copies with some of their nodes replaced."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from pycparser import c_ast

from loopxform.frontend.syntax.tree import clone, every, replace_children


class NewNodes:
    """Makes nodes at one place."""

    def __init__(self, coord: Any) -> None:
        self.coord = coord

    def function(self, name: str, params: list[c_ast.Decl], body: c_ast.Node) -> c_ast.FuncDef:
        """A definition of a function that returns nothing."""
        void = self.node(c_ast.Typename, name=None, quals=[], align=None, type=self.plain("void"))
        args = self.node(c_ast.ParamList, params=params or [void])
        kind = self.node(c_ast.FuncDecl, args=args, type=self.plain("void", name))
        decl = self.declaration(name, kind)
        return cast(c_ast.FuncDef, self.node(c_ast.FuncDef, decl=decl, param_decls=None, body=body))

    def declaration(self, name: str, kind: Any) -> Any:
        """One without an initial value."""
        empty: dict[str, Any] = {n: [] for n in ("quals", "align", "storage", "funcspec")}
        return self.node(c_ast.Decl, name=name, type=kind, init=None, bitsize=None, **empty)

    def plain(self, word: str, name: str | None = None) -> Any:
        """The type that is called `word`, of something with a name."""
        words = self.node(c_ast.IdentifierType, names=[word])
        return self.node(c_ast.TypeDecl, declname=name, quals=[], align=None, type=words)

    def pointer(self, d: c_ast.Decl, name: str, *, alone: bool = False) -> c_ast.Decl:
        """A parameter that points to what `d` declares; `alone`: no other pointer leads there."""
        pointer = parameter(d)
        rename(pointer.type, name)
        pointer.name = name
        quals = ["restrict"] if alone else []
        pointer.type = self.node(c_ast.PtrDecl, quals=quals, type=pointer.type)
        return pointer

    def pointed(self, pointer: str) -> Any:
        return self.node(c_ast.UnaryOp, op="*", expr=self.name(pointer))

    def name(self, name: str) -> Any:
        return self.node(c_ast.ID, name=name)

    def node(self, kind: Callable[..., Any], **parts: Any) -> Any:
        return kind(**parts, coord=self.coord)


def parameter(d: c_ast.Decl) -> c_ast.Decl:
    """One of the same name and type."""
    same = cast(c_ast.Decl, clone(d))
    same.init, same.storage, same.funcspec, same.bitsize = None, [], [], None
    return same


def copied(node: c_ast.Node, change: Callable[[c_ast.Node], c_ast.Node | None]) -> c_ast.Node:
    """A copy in which some names are something else: `(*p).x` is written `p->x`."""
    pairs = dict(zip(map(id, every(out := clone(node))), every(node)))

    def renewed(x: c_ast.Node) -> c_ast.Node:
        if (other := change(pairs[id(x)])) is not None:
            return other
        replace_children(x, renewed)
        if isinstance(x, c_ast.StructRef) and x.type == "." and isinstance(x.name, c_ast.UnaryOp):
            x.name, x.type = x.name.expr, "->"
        return x

    return renewed(out)


def rename(t: c_ast.Node, name: str) -> None:
    while not isinstance(t, c_ast.TypeDecl):
        t = cast(Any, t).type
    t.declname = name
