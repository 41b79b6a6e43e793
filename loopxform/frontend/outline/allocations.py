"""How long the arrays are that a function has allocated where consecutive statements of it begin.

    double *a = malloc(n * sizeof *a);           a has n elements in front of the loops, where it
    ...                                          is not null
    for (i = 0; i < m; i++) s += a[key[i]];

That is so where nothing else sets the pointer, the numbers in its size are what they were (`scanf`
may have set them before), and nobody who gets the pointer may free what it leads to, or keep it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, cast

from pycparser import c_ast

from loopxform.frontend.desugar.heap import is_allocation, length
from loopxform.frontend.desugar.jumps import LOOPS
from loopxform.frontend.lower.pointers import is_zero
from loopxform.frontend.names.variables import Variables
from loopxform.frontend.outline.first_values import JUMPS, in_front
from loopxform.frontend.outline.lent_pointers import Lending
from loopxform.frontend.outline.loops import number
from loopxform.frontend.outline.original import Original
from loopxform.frontend.outline.regions import Region
from loopxform.frontend.syntax.tree import below, every
from loopxform.ir.nodes import Bin, Cast, Const, Expr, Var
from loopxform.ir.types import LLONG


def allocated_sizes(original: Original, r: Region) -> Mapping[str, Expr]:
    """By the names of pointers of the function, in numbers of it."""
    nodes = list(every(r.owner.node.body))
    odd = any(isinstance(x, JUMPS) or _is_jump(x) for x in nodes)
    if odd or {"malloc", "calloc"} & set(original.definitions):
        return {}
    found = _Allocations(original, r, nodes)
    used = {id(d): d for d in original.variables(r.owner).used(r.nodes)}
    sizes = ((d.name, found.size(d)) for d in used.values())
    return {name: size for name, size in sizes if size is not None}


class _Allocations:
    def __init__(self, original: Original, r: Region, nodes: list[c_ast.Node]) -> None:
        self.region, self.nodes = r, nodes
        self.variables: Variables = original.variables(r.owner)
        self.lending = Lending(original.definitions)
        self.borrowed = original.borrowed(r.owner)
        self.around = list(_around(r.owner.node.body, r.nodes[0]))
        self.end = max(self.variables.order[id(x)] for n in r.nodes for x in every(n))

    def size(self, d: c_ast.Decl) -> Expr | None:
        v = self.variables
        numbers = list(v.levels(d)) == [True] and v.kind(v.element(d)) in ("number", "struct")
        quals = {q for x in every(d) for q in getattr(x, "quals", None) or ()}
        if not numbers or not self._is_own(d) or quals & {"volatile", "_Atomic"}:
            return None
        setting = self._setting(d)
        if setting is None:
            return None
        statement, value = setting
        size = length(value, d)
        begin, end = self._span(statement)
        if size is None or not end or not self._is_number(size, begin, end):
            return None
        return _expression(size) if self._is_there(d, statement) else None

    def _is_own(self, d: c_ast.Decl, *, lent: bool = False) -> bool:
        """Whether a variable is the function's, one for each call, and nothing has its address, or
        gets it `lent`: a function that sets it and forgets it (`scanf`)."""
        same = {id(x) for x in self.variables.meant.values() if x.name == d.name}
        odd = {"static", "extern"} & set(d.storage or ())
        known = self.borrowed if lent else frozenset[int]()
        escapes = any(id(x) not in known for x in self.variables.escaping[id(d)])
        return same == {id(d)} and not odd and not escapes

    def _setting(self, d: c_ast.Decl) -> tuple[c_ast.Node, c_ast.Node] | None:
        """The one statement that sets a pointer, certainly run before the region, and its value."""
        sets = self.variables.sets[id(d)]
        empty = d.init is None or is_zero(d.init)
        if id(d) in self.variables.params or bool(sets) != empty or len(sets) > 1:
            return None
        statement: c_ast.Node = sets[0] if sets else d
        if isinstance(statement, c_ast.Assignment) and statement.op != "=":
            return None
        value = cast(Any, statement).rvalue if sets else d.init
        return (statement, value) if value is not None and is_allocation(value) else None

    def _span(self, statement: c_ast.Node) -> tuple[int, int]:
        """The places in the text from a statement up to the end of the one behind it in its block
        that holds the region; 0 where there is none."""
        order = self.variables.order
        for item in self.around:
            if any(s is statement for s in in_front(item, self.nodes)):
                last = max(order[id(x)] for x in every(item))
                return order[id(statement)], max(last, self.end)
        return order[id(statement)], 0

    def _is_number(self, size: c_ast.Node, begin: int, end: int) -> bool:
        """Whether a size is a number that is what it was: a variable, a constant, or what is
        computed of them in signed numbers."""
        plain = c_ast.ID | c_ast.Constant | c_ast.BinaryOp
        inside = list(every(size))
        for x in inside:
            if not isinstance(x, plain) or (isinstance(x, c_ast.Constant) and x.type != "int"):
                return False
            if isinstance(x, c_ast.BinaryOp) and x.op not in ("+", "-", "*"):
                return False
            if isinstance(x, c_ast.ID) and not self._is_kept(x, begin, end, alone=x is size):
                return False
        return True

    def _is_kept(self, x: c_ast.ID, begin: int, end: int, *, alone: bool) -> bool:
        """Whether a variable is an integer that nothing sets in between."""
        v = self.variables
        d = v.meant.get(id(x))
        if d is None or v.kind(d) != "number" or not self._is_own(d, lent=True):
            return False
        words = v.words(d)
        if not words <= {"int", "long", "short", "signed"} | ({"unsigned"} if alone else set()):
            return False
        sets = (*v.sets[id(d)], *v.escaping[id(d)])
        return all(not begin <= v.order[id(s)] <= end for s in sets)

    def _is_there(self, d: c_ast.Decl, statement: c_ast.Node) -> bool:
        """Whether nothing may have freed what a pointer leads to where the region runs."""
        own = [x for x in self.nodes if self.variables.meant.get(id(x)) is d]
        frees = self.lending.frees(self.region.owner.node, own)
        return frees is not None and all(self._is_behind(x, statement) for x in frees)

    def _is_behind(self, call: c_ast.Node, statement: c_ast.Node) -> bool:
        """Whether a call that frees memory runs behind the region, until it is allocated anew."""
        if self._leaves(call):
            return True
        if self.variables.order[id(call)] <= self.end:
            return False
        loops = (x for x in self.around if isinstance(x, LOOPS))
        again = (set(map(id, every(x))) for x in loops)
        return all(id(statement) in inside for inside in again if id(call) in inside)

    def _leaves(self, call: c_ast.Node) -> bool:
        """Whether the function returns behind a call: `{ free(a); return -1; }`."""
        block = next(x for x in _around(self.region.owner.node.body, call) if x is not call)
        if any(x is block for x in self.around):
            return False
        items = (block.block_items or []) if isinstance(block, c_ast.Compound) else []
        jumps = any(isinstance(x, c_ast.Break | c_ast.Continue) for x in every(block))
        return bool(items) and isinstance(items[-1], c_ast.Return) and not jumps


def _expression(size: c_ast.Node) -> Expr | None:
    match size:
        case c_ast.ID(name=name):
            return Var(name)
        case c_ast.BinaryOp(op=op, left=left, right=right):
            x, y = _expression(left), _expression(right)
            if x is None or y is None:
                return None
            return Bin(op, Cast(LLONG, x) if op == "*" else x, y)  # C multiplies size_t
        case _:
            value = number(size)
            return None if value is None else Const(value)


def _is_jump(x: c_ast.Node) -> bool:
    """Whether a call may return twice."""
    return isinstance(x, c_ast.ID) and x.name in ("setjmp", "_setjmp", "sigsetjmp", "__sigsetjmp")


def _around(body: c_ast.Node, node: c_ast.Node) -> Iterator[c_ast.Node]:
    """A node, and those around it, up to the body of its function."""
    parents = {id(x): n for n in every(body) for x in below(n)}
    here: c_ast.Node | None = node
    while here is not None:
        yield here
        here = parents.get(id(here))
