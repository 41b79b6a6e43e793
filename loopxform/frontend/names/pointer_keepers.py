"""Functions of a file that store no pointer where their callers find it: what two pointers lead to
is apart behind a call of one if it was in front of it.

    static void shape(node *p, const node *q) { p->n = q->n; memcpy(p->d, q->d, 4 * sizeof(int)); }
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from pycparser import c_ast

from loopxform.frontend.names.expression_types import ExpressionTypes, FileTypes
from loopxform.frontend.names.library import BORROWING, keeps_no_address
from loopxform.frontend.names.pointer_sources import COPY
from loopxform.frontend.names.variables import Variables, changed
from loopxform.frontend.syntax.tree import every


class PointerKeepers:
    """Of the `functions` of a file by their names, where types tell objects apart."""

    def __init__(self, functions: Mapping[str, c_ast.FuncDef], file: FileTypes) -> None:
        self.functions, self.file = functions, file
        self._known: dict[str, bool] = {}
        self._borrowing: dict[str, bool] = {}

    def others(self, nodes: Iterable[c_ast.Node]) -> frozenset[str]:
        """The functions of the file that nodes call by name, but for these."""
        called = {x.name.name for x in nodes
                  if isinstance(x, c_ast.FuncCall) and isinstance(x.name, c_ast.ID)}  # fmt: skip
        return frozenset(name for name in called & self.functions.keys() if not self.keeps(name))

    def lent(
        self, nodes: Iterable[c_ast.Node], variables: Variables, *, own: bool
    ) -> Iterator[c_ast.Node]:
        """Addresses that calls of functions by name are given, which nobody knows afterwards: the
        functions, `own` ones of the file among them, keep none, and return numbers."""
        for call in nodes:
            if not isinstance(call, c_ast.FuncCall):
                continue
            name, args = call.name, call.args.exprs if call.args is not None else []
            if not isinstance(name, c_ast.ID) or id(name) in variables.meant:
                continue
            if (own or name.name not in self.functions) and self._borrows(name.name):
                yield from (x for x in args if isinstance(x, c_ast.UnaryOp) and x.op == "&")

    def _borrows(self, name: str) -> bool:
        node = self.functions.get(name)
        if node is None:
            pointer = not isinstance(self.file.objects.get(name), c_ast.FuncDecl | None)
            return name in BORROWING and not pointer
        if name not in self._borrowing:
            self._borrowing[name] = self.keeps(name) and self._gives_numbers(node)
        return self._borrowing[name]

    def _gives_numbers(self, node: c_ast.FuncDef) -> bool:
        """Whether a function returns a number, or nothing, and makes numbers of no pointers."""
        variables = Variables(node, self.file.typedefs)
        types = ExpressionTypes(variables, self.file)
        returned = variables.resolved(node.decl.type.type)
        casts = (x for x in every(node.body) if isinstance(x, c_ast.Cast))
        return isinstance(returned, c_ast.IdentifierType | c_ast.Enum) and all(
            types.is_number(x.expr) or not types.is_number(x) for x in casts
        )

    def keeps(self, name: str) -> bool:
        """Whether a function is one; one that calls itself is none."""
        if name not in self._known:
            self._known[name] = False
            node = self.functions[name]
            types = ExpressionTypes(Variables(node, self.file.typedefs), self.file)
            self._known[name] = all(self._keeps(x, types) for x in every(node.body))
        return self._known[name]

    def _keeps(self, x: c_ast.Node, types: ExpressionTypes) -> bool:
        if isinstance(x, c_ast.FuncCall):
            return self._is_harmless(x, types)
        target = changed(x)
        if isinstance(target, c_ast.ID) and (d := types.variables.meant.get(id(target))):
            return "static" not in d.storage or types.is_number(target)
        if isinstance(target, c_ast.StructRef) and types.is_number(target):
            return target.field.name not in types.file.united  # a byte that is a member is no other
        return target is None or stores_number(target, types)

    def _is_harmless(self, call: c_ast.FuncCall, types: ExpressionTypes) -> bool:
        name = call.name.name if isinstance(call.name, c_ast.ID) else ""
        if name in self.functions:
            return self.keeps(name)
        if name in COPY:
            args = call.args.exprs if call.args is not None else []
            return all(types.is_number(a) or types.leads_to_numbers(a) for a in args)
        return keeps_no_address(name)


def stores_number(target: c_ast.Node, types: ExpressionTypes) -> bool:
    """Whether a place holds a number that is no `char`, and no member of a union."""
    named = (n.field.name for n in every(target) if isinstance(n, c_ast.StructRef))
    if not types.is_number(target) or not types.file.united.isdisjoint(named):
        return False
    found = [types.variables.resolved(t) for t in types.types(target)]
    return all(isinstance(t, c_ast.IdentifierType) and "char" not in t.names for t in found)
