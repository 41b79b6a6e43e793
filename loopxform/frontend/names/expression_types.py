"""Of what sort an expression is, by the declarations that its names have: a number, a pointer, a
struct, or nobody knows."""

from __future__ import annotations

from collections.abc import Iterable

from pycparser import c_ast

from loopxform.frontend.desugar import build
from loopxform.frontend.names.variables import Variables
from loopxform.frontend.syntax.tree import every

Type = c_ast.Node


class FileTypes:
    """The types of what a file declares; the members of structs by their names alone, where all
    structs that have one agree on its sort."""

    def __init__(self, ext: Iterable[c_ast.Node]) -> None:
        self.typedefs: dict[str, Type] = {}
        self.objects: dict[str, Type] = {}
        self.members: dict[str, list[Type]] = {}
        self.united: set[str] = set()
        """The members of unions."""
        for node in ext:
            decl = node.decl if isinstance(node, c_ast.FuncDef) else node
            if isinstance(decl, c_ast.Typedef):
                self.typedefs[decl.name] = decl.type
            elif isinstance(decl, c_ast.Decl) and decl.name:
                self.objects[decl.name] = decl.type
            for x in every(decl.type) if isinstance(decl, c_ast.Typedef | c_ast.Decl) else ():
                if isinstance(x, c_ast.Struct | c_ast.Union):
                    for d in x.decls or ():
                        if isinstance(d, c_ast.Decl) and d.name:
                            self.members.setdefault(d.name, []).append(d.type)
                if isinstance(x, c_ast.Union):
                    self.united |= {
                        d.name for d in every(x) if isinstance(d, c_ast.Decl) and d.name
                    }


class ExpressionTypes:
    """Of the expressions of one function."""

    def __init__(self, variables: Variables, file: FileTypes) -> None:
        self.variables, self.file = variables, file

    def is_number(self, e: c_ast.Node) -> bool:
        """Whether it is certainly no pointer, and no struct that may hold one."""
        return self.sort(e) == "number"

    def leads_to_numbers(self, e: c_ast.Node) -> bool:
        """Whether it is a pointer to numbers, or an array of them."""
        return self._leads_to(e, "number")

    def leads_to_structs(self, e: c_ast.Node) -> bool:
        """Whether it is a pointer to structs, or an array of them."""
        return self._leads_to(e, "struct")

    def _leads_to(self, e: c_ast.Node, kind: str) -> bool:
        found = self._behind(e)
        return bool(found) and all(self.variables.kind(t) == kind for t in found)

    def sort(self, e: c_ast.Node) -> str:
        """number, pointer, array, struct, function; "" where it is not known."""
        found = {self.variables.kind(t) for t in self.types(e)}
        return found.pop() if len(found) == 1 else ""

    def types(self, e: c_ast.Node) -> list[Type]:
        """Those that it may have, by the declarations; none where they are not known."""
        match e:
            case c_ast.ID():
                return self._named(e)
            case c_ast.ArrayRef():
                return self._behind(e.name)
            case c_ast.StructRef():
                return self.file.members.get(e.field.name, [])
            case c_ast.UnaryOp():
                return self._of_operator(e)
            case c_ast.Cast():
                return [e.to_type]
            case c_ast.Assignment():
                return self.types(e.lvalue)
            case c_ast.TernaryOp():
                return [*self.types(e.iftrue), *self.types(e.iffalse)]
            case c_ast.BinaryOp():
                return self._of_sum(e)
            case c_ast.Constant():
                return [build.integer(e)] if e.type != "string" else []
            case c_ast.FuncCall(name=c_ast.ID()):
                return self._behind(e.name)
            case _:
                return []

    def _named(self, e: c_ast.ID) -> list[Type]:
        d = self.variables.meant.get(id(e))
        known = self.file.objects.get(e.name) if d is None else d.type
        return [] if known is None else [known]

    def _of_operator(self, e: c_ast.UnaryOp) -> list[Type]:
        match e.op:
            case "*":
                return self._behind(e.expr)
            case "&":
                return [build.pointer_to(t) for t in self.types(e.expr)]
            case "++" | "--" | "p++" | "p--" | "+" | "-" | "~":
                return self.types(e.expr)
            case _:
                return [build.integer(e)]

    def _of_sum(self, e: c_ast.BinaryOp) -> list[Type]:
        if e.op not in ("+", "-"):
            return [build.integer(e)]
        sides = [self.types(x) for x in (e.left, e.right)]
        derived = [s for s in sides if any(self.variables.kind(t) != "number" for t in s)]
        return derived[0] if derived and all(sides) else sides[0] if all(sides) else []

    def _behind(self, e: c_ast.Node) -> list[Type]:
        """The types of what a pointer or an array leads to, or a function returns."""
        out: list[Type] = []
        for t in self.types(e):
            match self.variables.resolved(t):
                case c_ast.PtrDecl(type=inner) | c_ast.ArrayDecl(type=inner):
                    out.append(inner)
                case c_ast.FuncDecl(type=inner):
                    out.append(inner)
                case _:
                    return []
        return out
