"""Pointer expressions as a name and an offset: `&a[i] + 2` is `a` and `i + 2`."""

from __future__ import annotations

from collections.abc import Mapping

from pycparser import c_ast

from loopxform.frontend.desugar import build
from loopxform.frontend.desugar.kinds import may_wrap
from loopxform.frontend.desugar.names import is_of_file, shown
from loopxform.frontend.syntax.tree import clone, every
from loopxform.records import record

_ORDER = ("<", ">", "<=", ">=", "==", "!=", "-")


@record
class Pointers:
    """The declarations of a function's names, the arrays of the file, and what is modified."""

    own: Mapping[str, c_ast.Decl]
    arrays: frozenset[str]
    changed: frozenset[str]

    def is_fixed(self, name: str) -> bool:
        """Whether a name is a pointer or an array that stays where it is."""
        if name in self.changed:
            return False
        if name in self.own:
            return isinstance(self.own[name].type, c_ast.PtrDecl | c_ast.ArrayDecl)
        return shown(name) in self.arrays and (is_of_file(name) or shown(name) not in self.own)

    def is_pointer(self, n: c_ast.Node) -> bool:
        """Whether an expression is a pointer, as far as its names tell."""
        match n:
            case c_ast.ID(name=name):
                known = self.own.get(name)
                if known is not None:
                    return isinstance(known.type, c_ast.PtrDecl | c_ast.ArrayDecl)
                return shown(name) in self.arrays
            case c_ast.BinaryOp(op="+" | "-"):
                return self.is_pointer(n.left) != self.is_pointer(n.right)
            case c_ast.UnaryOp(op="&"):
                return True
            case _:
                return False

    def elements(self, name: str) -> str | None:
        """What the elements of a pointer or an array are, as text; None where that is not plain."""
        d = self.own.get(name)
        return None if d is None else elements(d)


def elements(d: c_ast.Decl) -> str | None:
    """The type that a pointer points to, or an array is made of, qualifiers aside."""
    inner = d.type.type if isinstance(d.type, c_ast.PtrDecl | c_ast.ArrayDecl) else None
    t = inner.type if isinstance(inner, c_ast.TypeDecl) else None
    match t:
        case c_ast.IdentifierType(names=names):
            return " ".join(sorted(names))
        case c_ast.Struct(name=name, decls=None) if name:
            return f"struct {name}"
        case _:
            return None


@record
class PlaceIn:
    """The element `sum of terms` of `base`."""

    base: str
    terms: tuple[tuple[str, c_ast.Node], ...] = ()

    def moved(self, op: str, term: c_ast.Node, pointers: Pointers) -> PlaceIn:
        """The place further on, or back. A term is a number on its own: `p - u` leads back for an
        unsigned `u` as well."""
        if any(may_wrap(x, pointers.own) for x in every(term)):
            term = build.cast_to(build.integer(term, "long"), term)
        return PlaceIn(self.base, (*self.terms, (op, term)))

    def offset(self, at: c_ast.Node) -> c_ast.Node:
        out: c_ast.Node | None = None
        for op, term in self.terms:
            if out is None:
                out = clone(term) if op == "+" else build.minus(clone(term))
            else:
                out = build.binary(op, out, clone(term))
        return build.number(0, at) if out is None else out


def place_of(n: c_ast.Node, pointers: Pointers) -> PlaceIn | None:
    """The element of a fixed pointer or array that `n` points to."""
    match n:
        case c_ast.ID(name=name):
            return PlaceIn(name) if pointers.is_fixed(name) else None
        case c_ast.BinaryOp(op="+" | "-" as op):
            left, right = n.left, n.right
            if op == "+" and not pointers.is_pointer(left):
                left, right = right, left
            found = place_of(left, pointers)
            if found is None or pointers.is_pointer(right) or not _is_number(right):
                return None
            return found.moved(op, right, pointers)
        case c_ast.UnaryOp(op="&", expr=c_ast.ArrayRef() as e):
            found = place_of(e.name, pointers)
            if found is None or not _is_number(e.subscript):
                return None
            return found.moved("+", e.subscript, pointers)
        case _:
            return None


def _is_number(n: c_ast.Node) -> bool:
    """Whether an offset has no effects."""
    kinds = c_ast.Assignment | c_ast.FuncCall | c_ast.Compound | c_ast.ExprList
    steps = ("++", "--", "p++", "p--")
    return not any(
        isinstance(x, kinds) or (isinstance(x, c_ast.UnaryOp) and x.op in steps) for x in every(n)
    )


def is_order(n: c_ast.Node) -> bool:
    """Whether a node compares its operands, or subtracts them."""
    return isinstance(n, c_ast.BinaryOp) and n.op in _ORDER
