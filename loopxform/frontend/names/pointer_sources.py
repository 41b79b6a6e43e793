"""What the pointers of a function are set from, as far as its text says: which of two names may be
the same memory because the function made it so.

    p = a; p = a + k;      p is a, or in the same array: one class
    p = &s[k];             of structs another one, unless k is a constant: no class
    p[i] = p[i - 1] + k;   rows of one array, apart or not, as k is: no class
    p = s->data;           p and s->data are one class; so is t->data, if s and t are one
    p = f(q);              the function may return q: one class
    *s = *t; copy(s, t);   what the structs lead to is the same: one class

Flow-insensitive: an assignment counts wherever it stands, and what a pointer to pointers leads to
is in its own class (Steensgaard's analysis, within a function).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import TypeAlias, cast

from pycparser import c_ast

from loopxform.frontend.names.expression_types import ExpressionTypes, FileTypes
from loopxform.frontend.names.variables import Variables
from loopxform.frontend.syntax.tree import every

Root: TypeAlias = tuple[str, object]
"""A declaration of the function, a name of the file, or what is read from memory: the root that it
is reached by, with the name of the member or `[]`."""

_ALLOCATE = frozenset(["malloc", "calloc", "alloca", "aligned_alloc"])
COPY = frozenset(["memcpy", "memmove", "__builtin_memcpy", "__builtin_memmove"])


class PointerSources:
    """The classes that assignments, declarations and calls among the nodes of a function make.
    `own` are the functions that the file defines, but for those that store no pointers (see
    `pointer_keepers`). Earlier calls of the function have run the nodes `before`, with variables of
    their own."""

    def __init__(
        self,
        nodes: Iterable[c_ast.Node],
        variables: Variables,
        file: FileTypes,
        own: frozenset[str],
        before: Iterable[c_ast.Node] = (),
    ) -> None:
        self.variables = variables
        self.types = ExpressionTypes(variables, file)
        self.own = own
        self._parent: dict[Root, Root] = {}
        self._of_call = "earlier"
        self._read(before)
        self._of_call = "declaration"
        self._read(nodes)
        self._close()

    def _read(self, nodes: Iterable[c_ast.Node]) -> None:
        for x in nodes:
            if isinstance(x, c_ast.Assignment) and x.op == "=":
                self._assigned(x.lvalue, x.rvalue)
            elif isinstance(x, c_ast.Decl) and x.init is not None:
                self._join([self._variable(x)], self._values(x.init))
            elif isinstance(x, c_ast.FuncCall):
                self._called(x)

    def _variable(self, d: c_ast.Decl) -> Root:
        """A variable of the function, which is another one in each call; what callers give is as
        good as the same."""
        shared = {"static", "extern"} & set(d.storage or ()) or id(d) in self.variables.params
        return "declaration" if shared else self._of_call, id(d)

    def same(self, a: Root, b: Root) -> bool:
        """Whether two may be in one array, by what the function says."""
        return self._find(a) == self._find(b)

    def roots(self, value: c_ast.Node | None) -> list[Root]:
        """What a pointer value is, or leads to other elements of; nothing of a number."""
        if value is None or self.types.is_number(value):
            return []
        match value:
            case c_ast.ID():
                d = self.variables.meant.get(id(value))
                return [("file", value.name) if d is None else self._variable(d)]
            case c_ast.Cast():
                return self.roots(value.expr)
            case c_ast.UnaryOp(op="&", expr=place):
                return self._address(place)
            case c_ast.UnaryOp(op="++" | "--" | "p++" | "p--", expr=pointer):
                return self.roots(pointer)
            case c_ast.BinaryOp(op="+" | "-"):
                parts = [(value.left, value.right), (value.right, value.left)]
                return [r for a, k in parts if self._reaches(a, k) for r in self.roots(a)]
            case c_ast.Assignment():
                return self.roots(value.rvalue)
            case c_ast.TernaryOp():
                return [*self.roots(value.iftrue), *self.roots(value.iffalse)]
            case c_ast.FuncCall():
                return list(self._returned(value))
            case c_ast.StructRef():
                return self._members(value)
            case c_ast.ArrayRef(name=base) | c_ast.UnaryOp(op="*", expr=base):
                found = self.roots(base)
                return [*(("memory", (r, "[]")) for r in found), *found]
            case _:
                return []

    def _reaches(self, base: c_ast.Node, offset: c_ast.Node) -> bool:
        """Whether what is `offset` elements behind a pointer may be in what the pointer itself is
        used for: of structs one element is."""
        if _is_constant(offset):
            return True
        return self.types.is_number(offset) and not self.types.leads_to_structs(base)

    def _members(self, node: c_ast.StructRef) -> list[Root]:
        """A member of the structs that a pointer or a variable leads to."""
        owner = node.name
        if isinstance(owner, c_ast.ArrayRef):
            owner = owner.name
        elif isinstance(owner, c_ast.UnaryOp) and owner.op in ("*", "&"):
            owner = owner.expr
        return [("memory", (r, node.field.name)) for r in self.roots(owner)]

    # ------------------------------------------------------------ what the function does

    def _assigned(self, target: c_ast.Node, value: c_ast.Node) -> None:
        if self.types.is_number(target) or self.types.is_number(value):
            return
        targets, values = self.roots(target), self._values(value)
        if isinstance(target, c_ast.ArrayRef) and _moves(value):
            array = self.roots(target.name)
            values = [r for r in values if r not in targets]
            targets = [r for r in targets if r not in array]
        self._join(targets, values)
        if self.types.sort(target) in ("struct", ""):
            self._join(self._owners(target), self._owners(value))

    def _values(self, value: c_ast.Node) -> list[Root]:
        """What an initialiser or a value leads to."""
        if isinstance(value, c_ast.InitList):
            return [r for x in value.exprs for r in self._values(x)]
        if isinstance(value, c_ast.NamedInitializer):
            return self._values(value.expr)
        return self.roots(value)

    def _owners(self, place: c_ast.Node) -> list[Root]:
        """The pointer or the variable that a struct is reached by."""
        match place:
            case c_ast.StructRef() | c_ast.ArrayRef():
                return self._owners(place.name)
            case c_ast.UnaryOp() | c_ast.Cast():
                return self._owners(place.expr)
            case _:
                return self.roots(place)

    def _called(self, call: c_ast.FuncCall) -> None:
        """A function of the file, or one that copies memory, may make what its arguments lead to
        the same."""
        name = call.name.name if isinstance(call.name, c_ast.ID) else ""
        if name not in self.own and name not in COPY:
            return
        args = call.args.exprs if call.args is not None else []
        leading = [self._owners(a) for a in args if not self._is_flat(a)]
        for one, other in pairwise(leading):
            self._join(one, other)

    def _is_flat(self, arg: c_ast.Node) -> bool:
        """Whether it is a number, or leads to numbers only."""
        return self.types.is_number(arg) or self.types.leads_to_numbers(arg)

    def _address(self, place: c_ast.Node) -> list[Root]:
        """What `&place` is near to."""
        match place:
            case c_ast.ArrayRef():
                near = self._reaches(place.name, place.subscript)
                return self.roots(place.name) if near else []
            case c_ast.UnaryOp(op="*"):
                return self.roots(place.expr)
            case c_ast.ID():
                d = self.variables.meant.get(id(place))
                return [("file", place.name) if d is None else self._variable(d)]
            case c_ast.StructRef():
                return self._members(place)
            case _:
                return []

    def _returned(self, call: c_ast.FuncCall) -> Iterator[Root]:
        if isinstance(call.name, c_ast.ID) and call.name.name in _ALLOCATE:
            return
        for arg in call.args.exprs if call.args is not None else ():
            yield from self.roots(arg)

    # ------------------------------------------------------------ classes

    def _join(self, some: Iterable[Root], others: Iterable[Root]) -> None:
        for a in some:
            for b in others:
                self._unite(self._find(a), self._find(b))

    def _unite(self, a: Root, b: Root) -> bool:
        if a == b:
            return False
        # The shorter way stands for a list that leads to itself: `p = p->next`.
        longer, shorter = (a, b) if _depth(a) >= _depth(b) else (b, a)
        self._parent[longer] = shorter
        return True

    def _close(self) -> None:
        """What is read alike from what is one class is one class (congruence closure)."""
        while any(self._unite(self._top(r), self._find(r)) for r in list(self._parent)):
            pass

    def _find(self, root: Root) -> Root:
        """What stands for the class of a root, whose own way there goes by classes too."""
        kind, what = root
        if kind == "memory":
            base, part = cast("tuple[Root, str]", what)
            root = kind, (self._find(base), part)
        return self._top(root)

    def _top(self, root: Root) -> Root:
        while (parent := self._parent.get(root, root)) != root:
            root = parent
        return root


def _depth(root: Root) -> int:
    kind, what = root
    return 1 + _depth(cast("tuple[Root, str]", what)[0]) if kind == "memory" else 0


def _moves(value: c_ast.Node) -> bool:
    """Whether a pointer is some number of elements away from another one."""
    while isinstance(value, c_ast.Cast):
        value = value.expr
    match value:
        case c_ast.BinaryOp(op="+" | "-", left=a, right=b):
            return not (_is_constant(a) or _is_constant(b))
        case c_ast.UnaryOp(op="&", expr=c_ast.ArrayRef(subscript=subscript)):
            return not _is_constant(subscript)
        case _:
            return False


def _is_constant(node: c_ast.Node) -> bool:
    return all(isinstance(x, c_ast.Constant | c_ast.UnaryOp | c_ast.BinaryOp) for x in every(node))
