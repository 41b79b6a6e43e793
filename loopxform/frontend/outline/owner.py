"""The function that loops are taken from, for questions about them alone (see `extracted`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property

from pycparser import c_ast

from loopxform.frontend.desugar.jumps import LOOPS
from loopxform.frontend.names.expression_types import FileTypes
from loopxform.frontend.names.pointer_keepers import PointerKeepers
from loopxform.frontend.names.variables import Variables, changed
from loopxform.frontend.syntax.tree import below, every
from loopxform.records import record


@record
class Owner:
    """The function that the loop is from, and the file that it stands in, which defines the
    functions `own`; what those that the function calls set (see `settings`); whether types tell
    objects apart (`strict` aliasing), and which functions store
    no pointers."""

    function: c_ast.FuncDef
    variables: Variables
    file: FileTypes
    own: frozenset[str]
    set_by_calls: frozenset[str]
    strict: bool
    keepers: PointerKeepers

    @cached_property
    def linking(self) -> frozenset[str]:
        """The functions of the file that it calls, which may store pointers."""
        return self.keepers.others(self.effects) if self.strict else self.own

    @cached_property
    def lent(self) -> frozenset[int]:
        """By identity, the places that take an address which nobody knows after a call."""
        found = self.keepers.lent(self.effects, self.variables, own=self.strict)
        return frozenset(map(id, found))

    @cached_property
    def effects(self) -> tuple[c_ast.Node, ...]:
        """The nodes that may set something."""
        kinds = c_ast.Assignment | c_ast.Decl | c_ast.FuncCall | c_ast.UnaryOp
        return tuple(x for x in every(self.function.body) if isinstance(x, kinds))

    @cached_property
    def last_before(self) -> Mapping[int, int]:
        """For each loop, by identity, the last node that may run before it, in the order of the
        variables: in the outermost loop around it; anywhere in a function that jumps."""
        body, order = self.function.body, self.variables.order
        jumps = any(isinstance(x, c_ast.Goto) for x in every(body))
        last: dict[int, int] = {}
        waiting = [body]
        while waiting:
            node = waiting.pop()
            if not isinstance(node, LOOPS):
                waiting += below(node)
                continue
            end = max(order[id(x)] for x in every(body if jumps else node))
            last |= {id(x): end for x in every(node) if isinstance(x, LOOPS)}
        return last


def settings(nodes: Iterable[c_ast.Node]) -> Iterator[str]:
    """The variables that nodes set by name, and the members of structs, as `.n`."""
    for x in nodes:
        match changed(x):
            case c_ast.ID(name=name):
                yield name
            case c_ast.StructRef(field=c_ast.ID(name=name)):
                yield f".{name}"
