"""Structs that a function declares and only looks at member by member.

    struct P q = p[i];  x += q.a * q.b;      of q, only a and b matter

What such a struct holds beside the members that the function names is seen by nobody: it is neither
handed to a call, nor returned, nor copied to where others see it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import field

from pycparser import c_ast

from loopxform.frontend.desugar.names import governed
from loopxform.frontend.syntax.tree import every
from loopxform.records import record

Seen = tuple[frozenset[str], frozenset[str]]
"""The members of a struct that matter, and those of structs in it."""


@record
class OwnStructs:
    """Such structs, each with the members that are `named` of it or of its copies; the members that
    are named of `anything` at all."""

    named: Mapping[str, frozenset[str]] = field(default_factory=dict)
    anything: frozenset[str] = frozenset()

    @classmethod
    def of(cls, body: c_ast.Node) -> OwnStructs:
        nodes = list(every(body))
        uses, apart = Counter[str](), Counter[str]()
        named = defaultdict[str, set[str]](set)
        copied = [pair for n in nodes for pair in _copies(n) if pair[1]]
        apart.update(value for _, value in copied)
        for n in nodes:
            apart.update(_apart(n))
            if isinstance(n, c_ast.ID):
                uses[n.name] += 1
            elif isinstance(n, c_ast.StructRef) and (owner := _owner(n)):
                named[owner].add(n.field.name)
        local = {d.name for d in nodes if isinstance(d, c_ast.Decl) and not d.storage
                 and isinstance(d.type, c_ast.TypeDecl)}  # fmt: skip
        own = {n for n in local - governed(body) if uses[n] == apart[n]}
        while lost := {value for target, value in copied if value in own and target not in own}:
            own -= lost
        while any(not named[target] <= named[value] for target, value in copied):
            for target, value in copied:
                named[value] |= named[target]
        members = frozenset(n.field.name for n in nodes if isinstance(n, c_ast.StructRef))
        return cls({n: frozenset(named[n]) for n in own}, members)

    def seen_of(self, target: c_ast.Node) -> Seen | None:
        """The members that matter of a local struct, where it is one of these."""
        if not isinstance(target, c_ast.ID) or target.name not in self.named:
            return None
        return self.named[target.name], self.anything


def _apart(n: c_ast.Node) -> Iterator[str]:
    """The names that a node holds other than as those of whole structs that are read."""
    match n:
        case c_ast.StructRef():
            yield n.field.name
            if owner := _owner(n):
                yield owner
        case c_ast.NamedInitializer():
            yield from (x.name for x in n.name if isinstance(x, c_ast.ID))
        case c_ast.Assignment(op="=", lvalue=c_ast.ID(name=target)):
            yield target


def _owner(n: c_ast.StructRef) -> str:
    """The variable of which a node names a member."""
    whole = n.name if n.type == "." else _pointee(n.name)
    return whole.name if isinstance(whole, c_ast.ID) else ""


def _copies(n: c_ast.Node) -> Iterator[tuple[str, str]]:
    """The variable that a node sets, and the one whose value that gets."""
    match n:
        case c_ast.Assignment(op="=", lvalue=c_ast.ID(name=target), rvalue=value):
            yield target, _variable(value)
        case c_ast.Decl(name=str(target), init=value) if value is not None:
            yield target, _variable(value)


def _variable(value: c_ast.Node) -> str:
    while isinstance(value, c_ast.Cast):
        value = value.expr
    if isinstance(value, c_ast.UnaryOp) and value.op == "*":
        place = _pointee(value.expr)
        return place.name if isinstance(place, c_ast.ID) else ""
    return value.name if isinstance(value, c_ast.ID) else ""


def _pointee(pointer: c_ast.Node) -> c_ast.Node | None:
    """`q` where the pointer is `&q`, as calls that are replaced by what they do leave it."""
    while isinstance(pointer, c_ast.Cast):
        pointer = pointer.expr
    if isinstance(pointer, c_ast.UnaryOp) and pointer.op == "&":
        return pointer.expr  # type: ignore[no-any-return]
    return None
