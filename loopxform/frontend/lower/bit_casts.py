"""The bits of numbers as numbers of another type, where C reads them through memory.

    union { float f; unsigned n; } u; u.n = x; ... u.f  ->  unsigned u; u = x; ... float of bits(u)
    *(float *)&x                                        ->  float of bits((unsigned)x)

Of local variables alone: unions of numbers of one size that are nothing but members (of those that
the function mentions), and scalars of the size that they are read with.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pycparser import c_ast

from loopxform.frontend.desugar import build
from loopxform.frontend.lower.byte_copies import bits, from_bits, unsigned_of
from loopxform.frontend.names.ctype import CType, Lookup, ctype
from loopxform.frontend.syntax.tree import every, replace_children
from loopxform.ir.types import DOUBLE, FLOAT, Scalar

Unions = Mapping[str, c_ast.Union]


class FileTypes:
    """The unions of a file by tag and by `typedef` name, and its other types by name."""

    def __init__(self, ast: c_ast.FileAST) -> None:
        self.unions: dict[str, c_ast.Union] = {}
        self._types: dict[str, CType] = {}
        self.variables = {n.name for n in ast.ext if isinstance(n, c_ast.Decl)}
        for n in ast.ext:
            if isinstance(n, c_ast.FuncDef):
                continue
            for x in every(n):
                if isinstance(x, c_ast.Union) and x.decls and x.name:
                    self.unions[f"union {x.name}"] = x
            if isinstance(n, c_ast.Typedef):
                self._types[n.name] = ctype(n.type, self.typedef)
                union = _union(n.type, self.unions)
                if union is not None:
                    self.unions[n.name] = union

    def typedef(self, name: str) -> CType | None:
        return self._types.get(name)


def with_bit_casts(node: c_ast.FuncDef, types: FileTypes) -> None:
    """Rewrites the body of `node` in place."""
    unions, typedef = types.unions, types.typedef
    nodes = list(every(node))
    locals = [n for n in nodes if isinstance(n, c_ast.Decl) and n.name]
    names = [d.name for d in locals]
    own = (d for d in locals if names.count(d.name) == 1 and d.name not in types.variables)
    once = {d.name: d for d in own}
    for d in once.values():
        if isinstance(d.type, c_ast.TypeDecl) and not d.storage and "volatile" not in d.quals:
            union = _union(d.type, unions)
            members = None if union is None else _members(node, d, union, typedef)
            if union is not None and members:
                node.body = _Numbers(d, members, union.decls[0].name).visit(node.body)
    pointers = _Pointers(once, typedef)
    if any(isinstance(n, c_ast.UnaryOp) and pointers.found(n) for n in nodes):
        node.body = pointers.visit(node.body)


def _union(t: c_ast.Node, unions: Unions) -> c_ast.Union | None:
    inner = t.type if isinstance(t, c_ast.TypeDecl) else None
    match inner:
        case c_ast.Union(decls=None, name=name):
            return unions.get(f"union {name}")
        case c_ast.Union():
            return inner
        case c_ast.IdentifierType(names=[name]):
            return unions.get(name)
        case _:
            return None


Members = dict[str, Scalar]


def _members(
    node: c_ast.FuncDef, d: c_ast.Decl, union: c_ast.Union, typedef: Lookup
) -> Members | None:
    """The mentioned members and their types, where they are numbers of one size, the variable is
    nothing but these, and all that is done with them is to read and to set them."""
    uses = [n for n in every(node.body) if isinstance(n, c_ast.ID) and n.name == d.name]
    parts = [
        n
        for n in every(node.body)
        if isinstance(n, c_ast.StructRef)
        and n.type == "."
        and isinstance(n.name, c_ast.ID)
        and n.name.name == d.name
    ]
    first, *_ = union.decls
    wanted = {n.field.name for n in parts} | set(_initialised(d, first) or ())
    known = {x.name: x.type for x in union.decls}
    if len(uses) != len(parts) or not wanted or not wanted <= known.keys():
        return None
    out: Members = {}
    for name in wanted:
        t = ctype(known[name], typedef)
        if not t.is_scalar or t.base is None or not _is_number(t.base) or t.is_any_volatile:
            return None
        out[name] = t.base
    same = len({t.bytes for t in out.values()}) == 1
    plain = d.init is None or _initialised(d, first) is not None
    return out if same and plain and not any(_steps(node, d.name)) else None


def _steps(node: c_ast.FuncDef, name: str) -> Iterator[c_ast.Node]:
    """Where a member is counted up or down, or its address taken."""
    words = ("&", "++", "--", "p++", "p--", "sizeof")
    for n in every(node.body):
        if isinstance(n, c_ast.UnaryOp) and n.op in words:
            yield from (x for x in every(n.expr) if isinstance(x, c_ast.ID) and x.name == name)


def _initialised(d: c_ast.Decl, first: c_ast.Decl) -> tuple[str] | None:
    """The member that `{ x }` or `{ .member = x }` sets."""
    match d.init:
        case c_ast.InitList(exprs=[c_ast.NamedInitializer(name=[c_ast.ID(name=name)])]):
            return (name,)
        case c_ast.InitList(exprs=[x]) if not isinstance(
            x, c_ast.NamedInitializer | c_ast.InitList
        ):
            return (first.name,)
        case _:
            return None


def _is_number(t: Scalar) -> bool:
    return t in (FLOAT, DOUBLE) or (t.kind in ("int", "uint") and t.bytes in (4, 8))


class _Numbers:
    """A union as its bits."""

    def __init__(self, d: c_ast.Decl, members: Members, first: str) -> None:
        self.d, self.members, self.first = d, members, first

    def visit(self, n: c_ast.Node) -> c_ast.Node:
        match n:
            case c_ast.Decl() if n is self.d:
                self._declare(n)
            case c_ast.Assignment(lvalue=c_ast.StructRef() as target) if self._is_mine(target):
                value = self.visit(n.rvalue)
                if n.op != "=":
                    value = build.binary(n.op[:-1], self._read(target), value)
                return build.assignment(self.d.name, self._bits(value, target.field.name), n)
            case c_ast.StructRef() if self._is_mine(n):
                return self._read(n)
            case _:
                replace_children(n, self.visit)
        return n

    def _is_mine(self, n: c_ast.StructRef) -> bool:
        return n.type == "." and isinstance(n.name, c_ast.ID) and n.name.name == self.d.name

    def _read(self, n: c_ast.StructRef) -> c_ast.Node:
        return from_bits(build.name(self.d.name, n), self.members[n.field.name])

    def _bits(self, value: c_ast.Node, member: str) -> c_ast.Node:
        t = self.members[member]
        return bits(build.cast_to(build.integer(value, t.c), value), t)

    def _declare(self, d: c_ast.Decl) -> None:
        (some, *_) = self.members.values()
        match d.init:
            case c_ast.InitList(exprs=[c_ast.NamedInitializer(name=[x], expr=value)]):
                d.init = self._bits(self.visit(value), x.name)
            case c_ast.InitList(exprs=[value]):
                d.init = self._bits(self.visit(value), self.first)
        d.type = build.typed(build.integer(d, unsigned_of(some).c), d.name)


class _Pointers:
    """Scalars that are read through a pointer to another type."""

    def __init__(self, locals: Mapping[str, c_ast.Decl], typedef: Lookup) -> None:
        self.locals, self.typedef = locals, typedef

    def visit(self, n: c_ast.Node) -> c_ast.Node:
        match n:
            case c_ast.Assignment() if (found := self.found(n.lvalue)) is not None:
                name, a, b = found
                n.rvalue = self.visit(n.rvalue)
                if n.op != "=":
                    return n
                value = bits(build.cast_to(build.integer(n, b.c), n.rvalue), b)
                return build.assignment(name, from_bits(value, a), n)
            case c_ast.UnaryOp(op="&" | "++" | "--" | "p++" | "p--") if self.found(n.expr):
                return n
            case c_ast.UnaryOp() if (found := self.found(n)) is not None:
                name, a, b = found
                return from_bits(bits(build.name(name, n), a), b)
            case _:
                replace_children(n, self.visit)
                return n

    def found(self, n: c_ast.Node) -> tuple[str, Scalar, Scalar] | None:
        """The variable that `*(T *)&x` reads or sets, its type and T; None where it is another
        expression, or these are not numbers of one size."""
        match n:
            case c_ast.UnaryOp(
                op="*",
                expr=c_ast.Cast(
                    to_type=c_ast.Typename(type=c_ast.PtrDecl(type=to)),
                    expr=c_ast.UnaryOp(op="&", expr=c_ast.ID(name=name)),
                ),
            ) if name in self.locals:
                here, there = ctype(self.locals[name].type, self.typedef), ctype(to, self.typedef)
            case _:
                return None
        a, b = here.base, there.base
        plain = here.is_scalar and there.is_scalar
        if not plain or a is None or b is None or a == b:
            return None
        if here.is_any_volatile or there.is_any_volatile or "static" in self.locals[name].storage:
            return None
        known = _is_number(a) and _is_number(b) and a.bytes == b.bytes
        return (name, a, b) if known else None
