"""Which conditions of a loop depend on data: those that may hold in any of its iterations, as far
as the loop itself tells.

    a[i] > 0, getchar() < 0      data that differ from iteration to iteration
    s->verbose                   the same in all iterations, whatever it is
    i < s->limit                 holds in as many as there may be
    i == s->last                 holds in one at most: nothing is said
    i > 0, is_last(i)            no data
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeAlias, cast

from pycparser import c_ast

from loopxform.frontend.names.loop_sites import Site, sites_of
from loopxform.frontend.names.variables import Variables, changed
from loopxform.frontend.syntax.tree import below, every
from loopxform.ir.functions import is_known

LoopNode: TypeAlias = c_ast.For | c_ast.While | c_ast.DoWhile
_ORDER = ("<", ">", "<=", ">=")


class LoopData:
    """Of one loop: `sites` is what runs in an iteration, `own` are the functions that the file
    defines. `sets` gives the assignments of each variable, by the identity of its declaration."""

    def __init__(self, loop: LoopNode, variables: Variables, own: frozenset[str]) -> None:
        self.loop, self.variables, self.own = loop, variables, own
        self.sites = list(sites_of(loop))
        self.sets: dict[int, list[Site]] = {}
        for d, s in self._changes():
            self.sets.setdefault(d, []).append(s)
        self.varying = self._varying()
        self.bounds = self._bounds()

    def moves(self, place: c_ast.Node | None) -> bool:
        """Whether a place or the arguments of a call are other ones in other iterations."""
        return any(id(d) in self.sets for d in self._named(place))

    def sets_varying(self, s: Site) -> bool:
        """Whether an assignment gives data that differ from iteration to iteration, or is made
        where such data say so."""
        return any(self.varies(v) for v in (_value(s.node), *s.conditions))

    def varies(self, node: c_ast.Node | None, varying: Iterable[int] | None = None) -> bool:
        """Whether a value depends on data that differ from iteration to iteration."""
        known = self.varying if varying is None else varying
        return any(self._is_varying(x) for x in every(node)) or any(
            id(d) in known for d in self._named(node)
        )

    def is_open(self, conditions: Iterable[c_ast.Node]) -> bool:
        """Whether data may make all of the conditions hold, in as many iterations as there are."""
        return all(self._is_free(a, sizes=False) for c in conditions for a in parts(c))

    def may_not_hold(self, conditions: Iterable[c_ast.Node]) -> bool:
        """Whether data or parameters may keep one of the conditions from holding at all."""
        return any(self._is_free(a, sizes=True) for c in conditions for a in parts(c))

    # ------------------------------------------------------------ conditions

    def _is_free(self, atom: c_ast.Node, *, sizes: bool) -> bool:
        """Whether one comparison may have either answer in all iterations; parameters that the
        function leaves alone count as data with `sizes`."""
        if self.varies(atom):
            return True
        calls = [x for x in every(atom) if isinstance(x, c_ast.FuncCall) and not is_math(x)]
        if any(self.moves(x.args) for x in calls):
            return False
        given = sizes and any(map(self._is_given, self._named(atom)))
        if not (calls or given or any(map(is_memory, every(atom)))):
            return False
        order = isinstance(atom, c_ast.BinaryOp) and atom.op in _ORDER
        return (order or not self.moves(atom)) and not set(_keys(atom)) & self.bounds

    def _bounds(self) -> frozenset[str]:
        """What the headers of the loop and of those inside it compare counters with."""
        loops = (self.loop, *(s.node for s in self.sites))
        headers = [n.cond for n in loops if isinstance(n, c_ast.For | c_ast.While | c_ast.DoWhile)]
        moving = {d.name for h in headers for d in self._named(h) if id(d) in self.sets}
        return frozenset(key for h in headers for key in _keys(h)) - moving

    def _is_given(self, d: c_ast.Decl) -> bool:
        kept = not self.variables.sets[id(d)] and not self.variables.escaping[id(d)]
        return id(d) in self.variables.params and kept

    # ------------------------------------------------------------ data

    def _changes(self) -> Iterator[tuple[int, Site]]:
        """What is assigned by name."""
        for s in self.sites:
            target = changed(s.node)
            d = self.variables.meant.get(id(target)) if isinstance(target, c_ast.ID) else None
            if d is not None:
                yield id(d), s
            if isinstance(s.node, c_ast.Decl) and s.node.init is not None:
                yield id(s.node), s

    def _varying(self) -> frozenset[int]:
        """The variables that hold data which differ from iteration to iteration."""
        found = set[int]()
        for s in self.sites:
            if isinstance(s.node, c_ast.UnaryOp) and s.node.op == "&":
                found |= {id(d) for d in self._named(s.node.expr)}
        while True:
            more = {
                d
                for d, sites in self.sets.items()
                if d not in found
                and any(
                    self.varies(v, found) for s in sites for v in (_value(s.node), *s.conditions)
                )
            }
            if not more:
                return frozenset(found)
            found |= more

    def _is_varying(self, x: c_ast.Node) -> bool:
        """Whether a node itself reads such data. A function of the file gives what it always gives
        for a counter, one that nobody knows anything."""
        if isinstance(x, c_ast.FuncCall):
            own = isinstance(x.name, c_ast.ID) and x.name.name in self.own
            return not is_math(x) and not (own and self.moves(x.args))
        return is_memory(x) and self.moves(x)

    def _named(self, node: c_ast.Node | None) -> Iterator[c_ast.Decl]:
        found = (self.variables.meant.get(id(x)) for x in every(node) if isinstance(x, c_ast.ID))
        return (d for d in found if d is not None)


def _keys(cond: c_ast.Node | None) -> Iterator[str]:
    """The names in a condition; of what a pointer leads to, that of the member."""
    waiting = [] if cond is None else [cond]
    while waiting:
        x = waiting.pop()
        match x:
            case c_ast.StructRef(field=c_ast.ID(name=name)):
                yield f".{name}"
            case c_ast.ID(name=name):
                yield name
            case _:
                waiting += below(x)


def parts(cond: c_ast.Node | None) -> Iterator[c_ast.Node]:
    """The conditions that one is made of by &&, || and !."""
    match cond:
        case None:
            return
        case c_ast.BinaryOp(op="&&" | "||"):
            yield from parts(cond.left)
            yield from parts(cond.right)
        case c_ast.UnaryOp(op="!"):
            yield from parts(cond.expr)
        case _:
            yield cond


def is_memory(x: c_ast.Node) -> bool:
    """Whether an expression reads an element, a member behind a pointer, or what one points to."""
    match x:
        case c_ast.ArrayRef() | c_ast.UnaryOp(op="*"):
            return True
        case c_ast.StructRef(type="->"):
            return True
        case _:
            return False


def is_math(call: c_ast.Node) -> bool:
    """Whether a call computes from numbers alone."""
    match call:
        case c_ast.FuncCall(name=c_ast.ID(name=name)):
            return is_known(name)
        case _:
            return False


def _value(node: c_ast.Node) -> c_ast.Node | None:
    match node:
        case c_ast.Assignment(rvalue=value) | c_ast.Decl(init=value):
            return cast("c_ast.Node | None", value)
        case _:
            return None
