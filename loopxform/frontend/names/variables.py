"""The variables of one function by the scopes of C: which declaration each name in it means."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from pycparser import c_ast

from loopxform.frontend.names.liveness import Liveness
from loopxform.frontend.syntax.tree import below, every

Scope = dict[str, c_ast.Decl]


class Variables:
    """`meant` gives, for each `ID` by identity, the declaration of the function's that it names;
    names of the file are not in it. `types_inside` are types and
    constants that the function declares. `order` numbers the nodes of the function in text order,
    `sets` are the places that modify a variable, `escaping` those that take its address, `names`
    what it names and declares. `fresh` are static variables, by identity, that each call sets
    before it reads them."""

    def __init__(
        self,
        node: c_ast.FuncDef,
        types: Mapping[str, c_ast.Node],
        fresh: frozenset[int] = frozenset(),
    ) -> None:
        self.types, self.body, self.fresh = types, node.body, fresh
        self.meant: dict[int, c_ast.Decl] = {}
        args = node.decl.type.args
        params = [p for p in (args.params if args else ()) if isinstance(p, c_ast.Decl) and p.name]
        self.params = frozenset(map(id, params))
        self.order = {id(x): n for n, x in enumerate(every(node))}
        kinds = c_ast.ID | c_ast.Decl
        self.names = frozenset(x.name for x in every(node) if isinstance(x, kinds))
        scope: Scope = {}
        for p in params:
            self._visit(p, scope)
        self._all(node.body.block_items or (), dict(scope))
        self.sets: dict[int, list[c_ast.Node]] = defaultdict(list)
        self.types_inside = frozenset(_defined(node.body))
        self.escaping: dict[int, list[c_ast.Node]] = defaultdict(list)
        for x in every(node.body):
            target = changed(x)
            if isinstance(target, c_ast.ID) and id(target) in self.meant:
                self.sets[id(self.meant[id(target)])].append(x)
            if isinstance(x, c_ast.UnaryOp) and x.op == "&":
                root = self._addressed(x.expr)
                if root is not None:
                    self.escaping[id(root)].append(x)

    @cached_property
    def liveness(self) -> Liveness:
        """By the identity of declarations."""
        return Liveness(self.body, lambda x: id(self.meant[id(x)]) if id(x) in self.meant else None)

    def live_after(self, region: Sequence[c_ast.Node], d: c_ast.Decl) -> bool:
        """Whether the value that a variable has after consecutive statements may be read: in this
        call of the function, or in another where the variable lasts."""
        lasts = not {"static", "extern"}.isdisjoint(d.storage or ())
        return (lasts and id(d) not in self.fresh) or self.liveness.after(region, id(d))

    def kept_between(self, first: c_ast.Node, last: c_ast.Node) -> frozenset[str]:
        """The names that mean one variable each, which nothing sets from one statement of a block
        on, up to a later one; no jump leads between them."""
        begin, end = self.order[id(first)], self.order[id(last)]
        known = {id(d): d for d in self.meant.values()}
        counts = Counter(d.name for d in known.values())
        return frozenset(
            d.name
            for d in known.values()
            if counts[d.name] == 1
            and not self.escaping[id(d)]
            and not {"static", "extern"} & set(d.storage or ())
            and all(not begin <= self.order[id(x)] < end for x in self.sets[id(d)])
        )

    def used(self, nodes: Iterable[c_ast.Node]) -> list[c_ast.Decl]:
        """The variables that some statements mention and do not declare, in order."""
        inside = {id(x) for n in nodes for x in every(n)}
        found = [self.meant[x] for x in inside if x in self.meant]
        outside = {id(d): d for d in found if id(d) not in inside}
        return sorted(outside.values(), key=lambda d: self.order[id(d)])

    def kind(self, node: c_ast.Node) -> str:
        """What sort of type: a number, an array, a pointer, a struct, a function."""
        match self.resolved(node):
            case c_ast.PtrDecl():
                return "pointer"
            case c_ast.ArrayDecl():
                return "array"
            case c_ast.FuncDecl():
                return "function"
            case c_ast.Struct() | c_ast.Union():
                return "struct"
            case _:
                return "number"

    def element(self, pointer: c_ast.Node) -> c_ast.Node:
        """The type that a pointer leads to, or that of the elements where these are arrays."""
        t = self.resolved(pointer)
        t = self.resolved(t.type) if isinstance(t, c_ast.PtrDecl) else t
        while isinstance(t, c_ast.ArrayDecl):
            t = self.resolved(t.type)
        return t

    def levels(self, node: c_ast.Node) -> Iterator[bool]:
        """For each subscript of a variable whether it follows a pointer, the outermost first."""
        t = self.resolved(node)
        while isinstance(t, c_ast.PtrDecl | c_ast.ArrayDecl):
            yield isinstance(t, c_ast.PtrDecl)
            t = self.resolved(t.type)

    def words(self, node: c_ast.Node) -> frozenset[str]:
        """The words of the type of the elements: `{"long", "int"}`; a struct has none."""
        t = self.resolved(node)
        while isinstance(t, c_ast.PtrDecl | c_ast.ArrayDecl | c_ast.FuncDecl):
            t = self.resolved(t.type)
        return frozenset(t.names) if isinstance(t, c_ast.IdentifierType) else frozenset()

    def _addressed(self, place: c_ast.Node) -> c_ast.Decl | None:
        """The variable that a place is in; an element that a pointer leads to is in none."""
        outer = place
        while isinstance(place, c_ast.ArrayRef | c_ast.StructRef):
            if isinstance(place, c_ast.StructRef) and place.type == "->":
                return None
            outer, place = place, place.name
        decl = self.meant.get(id(place))
        if decl is None or not isinstance(outer, c_ast.ArrayRef):
            return decl
        return None if self.kind(decl) == "pointer" else decl

    def resolved(self, node: c_ast.Node) -> c_ast.Node:
        """The outermost derivation of a type, or the type of a number or a struct."""
        while True:
            match node:
                case c_ast.Decl() | c_ast.TypeDecl() | c_ast.Typename() | c_ast.Typedef():
                    node = node.type
                case c_ast.IdentifierType(names=[name]) if name in self.types:
                    node = self.types[name]
                case _:
                    return node

    # ------------------------------------------------------------ scopes

    def _all(self, nodes: Iterable[c_ast.Node], scope: Scope) -> None:
        for n in nodes:
            self._visit(n, scope)

    def _visit(self, node: c_ast.Node, scope: Scope) -> None:
        match node:
            case c_ast.ID():
                if node.name in scope:
                    self.meant[id(node)] = scope[node.name]
            case c_ast.Decl() if node.name:
                self._visit(node.type, scope)
                scope[node.name] = node
                if node.init is not None:
                    self._visit(node.init, scope)
            case c_ast.FuncDecl() | c_ast.Struct() | c_ast.Union():
                self._all(below(node), dict(scope))
            case c_ast.StructRef():
                self._visit(node.name, scope)
            case c_ast.Compound() | c_ast.For() | c_ast.While() | c_ast.DoWhile() | c_ast.If():
                self._all(below(node), dict(scope))
            case c_ast.BinaryOp():
                self._all(_operands(node), scope)
            case _:
                self._all(below(node), scope)


def _operands(node: c_ast.Node) -> list[c_ast.Node]:
    """Those of a chain of operators, from left to right: it may be long."""
    found: list[c_ast.Node] = []
    while isinstance(node, c_ast.BinaryOp):
        found.append(node.right)
        node = node.left
    return [node, *reversed(found)]


def _defined(body: c_ast.Node) -> Iterator[str]:
    """Types, tags and constants that a function declares for itself."""
    for x in every(body):
        match x:
            case c_ast.Typedef():
                yield x.name
            case c_ast.Enumerator():
                yield x.name
            case c_ast.Struct(name=str() as tag, decls=list()):
                yield tag
            case c_ast.Union(name=str() as tag, decls=list()):
                yield tag


def changed(node: c_ast.Node) -> c_ast.Node | None:
    """What a node itself modifies."""
    target: c_ast.Node | None = None
    if isinstance(node, c_ast.UnaryOp) and node.op in ("++", "p++", "--", "p--"):
        target = node.expr
    elif isinstance(node, c_ast.Assignment):
        target = node.lvalue
    return target
