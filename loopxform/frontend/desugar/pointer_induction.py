"""Pointers that move are a fixed pointer and an offset that counts.

    double *p = a + 3; for (...) { *p = 1; p += 2; }
    ->  long p@ = 3; for (...) { a[p@] = 1; p@ += 2; }

    for (p = a; p < a + n; p++) s += *p;   ->   for (p@ = 0; p@ < n; p@++) s += a[p@];

So is a pointer to a place that an array says, which may say something else later:

    int *p = list + first[i]; s += p[k];   ->   long p@ = first[i]; s += list[p@ + k];

A value that is no plain sum (`double *p = m[i];`) is kept in a pointer that is set once. Where not
every use can be told which fixed pointer it is relative to, the pointer is left as it is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from pycparser import c_ast

from loopxform.frontend.desugar.heap import is_allocation
from loopxform.frontend.desugar.kinds import once
from loopxform.frontend.desugar.names import Fresh, Mentions, changed, exposed, governed, mentioned
from loopxform.frontend.desugar.offsets import PlaceIn, Pointers, is_order, place_of
from loopxform.frontend.desugar.pieces import Pieces, Stray
from loopxform.frontend.desugar.stepped import stepped
from loopxform.frontend.syntax.tree import every, replace_children

_JUMPS = (c_ast.Goto, c_ast.Label, c_ast.Switch)


def without_moves(node: c_ast.FuncDef, arrays: frozenset[str], fresh: Fresh) -> None:
    """Rewrites the body of `node` in place; `arrays` are those of the file."""
    inside = list(every(node.body))
    if any(isinstance(n, _JUMPS) for n in inside):
        return
    own = once(node)
    taken = exposed(node.body) | governed(node.body)
    pointers = [n for n, d in own.items() if _is_plain_pointer(d) and n not in taken]
    known = Pointers(own, arrays, changed(node.body) | taken)
    looked_up = _looked_up(inside, pointers, known)
    if not set(pointers) & changed(node.body) and not looked_up:
        return
    moved = {n for n in map(stepped, inside) if n in pointers} | _set_again(inside, pointers)
    ends = _compared(inside, moved, frozenset(pointers))
    moved |= looked_up
    locals, done = {d.name for d in inside if isinstance(d, c_ast.Decl)}, False
    mentions = Mentions(node.body)
    for name in _in_order([n for n in pointers if n in moved or n in ends & locals], inside):
        try:
            body = Pieces(name, own[name], known, fresh).run(mentions, local=name in locals)
        except Stray:
            continue
        node.body, done = body, True
        mentions = Mentions(body)
        known = Pointers(once(node), arrays, changed(node.body) | taken)
    if done:
        node.body = _Ordered(known).visit(node.body)


def _in_order(names: list[str], inside: list[c_ast.Node]) -> list[str]:
    """The pointers, each after those that its values are computed from, where that can be."""
    sources: dict[str, set[str]] = {name: set() for name in names}
    for n in inside:
        match n:
            case c_ast.Assignment(lvalue=c_ast.ID(name=name), rvalue=value):
                pass
            case c_ast.Decl(name=name, init=value):
                pass
            case _:
                continue
        if name in sources and value is not None:
            sources[name] |= mentioned(value) & sources.keys() - {name}
    out: list[str] = []
    while left := [n for n in names if n not in out]:
        ready = [n for n in left if sources[n] <= set(out)]
        out += ready or left[:1]
    return out


def _is_plain_pointer(d: c_ast.Decl) -> bool:
    """Whether a declaration is that of a pointer to elements that are no arrays or pointers."""
    outer = isinstance(d.type, c_ast.PtrDecl | c_ast.ArrayDecl)
    return outer and isinstance(d.type.type, c_ast.TypeDecl) and not d.storage


def _set_again(inside: list[c_ast.Node], pointers: list[str]) -> set[str]:
    """The pointers that get a value in several places, but for those from a call: what a function
    gives has no other name."""
    found = list(_settings(inside))
    count = Counter(name for name, _ in found)
    called = {name for name, value in found if _is_called(value)}
    return {name for name in pointers if count[name] > 1 and name not in called}


def _looked_up(inside: list[c_ast.Node], pointers: list[str], known: Pointers) -> set[str]:
    """The pointers to places that arrays say."""
    return {n for n, v in _settings(inside) if n in pointers and _reads(place_of(v, known))}


def _settings(inside: list[c_ast.Node]) -> Iterator[tuple[str, c_ast.Node]]:
    """The variables that get a value, each with that."""
    for n in inside:
        match n:
            case c_ast.Assignment(lvalue=c_ast.ID(name=name), rvalue=value):
                yield name, value
            case c_ast.Decl(name=name, init=value) if value is not None:
                yield name, value


def _reads(place: PlaceIn | None) -> bool:
    """Whether the offset of a place reads an array."""
    terms = () if place is None else place.terms
    return any(
        isinstance(n, c_ast.ArrayRef) or (isinstance(n, c_ast.UnaryOp) and n.op == "*")
        for _, term in terms
        for n in every(term)
    )


def _is_called(value: c_ast.Node) -> bool:
    while isinstance(value, c_ast.Cast):
        value = value.expr
    return isinstance(value, c_ast.FuncCall) and not is_allocation(value)


def _compared(
    inside: list[c_ast.Node], moved: set[str], pointers: frozenset[str]
) -> frozenset[str]:
    """The pointers that stand in a comparison with one that moves."""
    out: set[str] = set()
    for n in inside:
        if is_order(n):
            names = {x.name for x in every(n) if isinstance(x, c_ast.ID)}
            if names & moved:
                out |= names & pointers
    return frozenset(out)


class _Ordered:
    """Comparisons and differences of pointers into one array are those of their offsets."""

    def __init__(self, pointers: Pointers) -> None:
        self.pointers = pointers

    def visit(self, n: c_ast.Node) -> c_ast.Node:
        replace_children(n, self.visit)
        if not is_order(n):
            return n
        assert isinstance(n, c_ast.BinaryOp)
        left, right = place_of(n.left, self.pointers), place_of(n.right, self.pointers)
        if left is None or right is None or left.base != right.base:
            return n
        n.left, n.right = left.offset(n), right.offset(n)
        return n
