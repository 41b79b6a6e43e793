"""Structs that a function declares and only looks at member by member.

    struct P q = p[i];  x += q.a * q.b;      of q, only a and b matter

What such a struct holds beside the members that the function mentions is seen by nobody: it is
neither handed to a call, nor returned, nor copied to where others see it.
"""

from __future__ import annotations

from collections import Counter

from pycparser import c_ast

from loopxform.frontend.desugar.names import governed
from loopxform.frontend.syntax.tree import every
from loopxform.records import record


@record
class OwnStructs:
    """The `names` of such structs, and of the members that are `mentioned` anywhere in the
    function, other than to give them their first values."""

    names: frozenset[str] = frozenset()
    mentioned: frozenset[str] = frozenset()

    @classmethod
    def of(cls, body: c_ast.Node) -> OwnStructs:
        nodes = list(every(body))
        uses, apart, copied = Counter[str](), Counter[str](), set[tuple[str, str]]()
        read = set[str]()
        for n in nodes:
            match n:
                case c_ast.ID():
                    uses[n.name] += 1
                case c_ast.StructRef():
                    apart[n.field.name] += 1
                    read.add(n.field.name)
                    if n.type == "." and isinstance(n.name, c_ast.ID):
                        apart[n.name.name] += 1
                case c_ast.NamedInitializer():
                    apart.update(x.name for x in n.name if isinstance(x, c_ast.ID))
                case c_ast.Assignment(op="=", lvalue=c_ast.ID(name=target), rvalue=value):
                    apart[target] += 1
                    _copy(target, value, apart, copied)
                case c_ast.Decl(name=str(target), init=value) if value is not None:
                    _copy(target, value, apart, copied)
        local = {d.name for d in nodes if isinstance(d, c_ast.Decl) and not d.storage
                 and isinstance(d.type, c_ast.TypeDecl)}  # fmt: skip
        own = {n for n in local - governed(body) if uses[n] == apart[n]}
        while lost := {value for target, value in copied if value in own and target not in own}:
            own -= lost
        return cls(frozenset(own), frozenset(read))

    def seen_of(self, target: c_ast.Node) -> frozenset[str] | None:
        """The members that matter of a local struct, where it is one of these."""
        own = isinstance(target, c_ast.ID) and target.name in self.names
        return self.mentioned if own else None


def _copy(
    target: str, value: c_ast.Node, apart: Counter[str], copied: set[tuple[str, str]]
) -> None:
    """Records that a struct gets the value of another one."""
    while isinstance(value, c_ast.Cast):
        value = value.expr
    if isinstance(value, c_ast.ID):
        apart[value.name] += 1
        copied.add((target, value.name))
