"""The elements that a pointer argument leads to: `a + i`, `&s.v[2]`, `(void *)&x`, `m[i]`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, TypeAlias, cast

from pycparser import c_ast

from loopxform.frontend.desugar import build
from loopxform.frontend.lower.expressions import Expressions
from loopxform.frontend.names.ctype import Array, CType, Func
from loopxform.frontend.syntax.tree import clone, every
from loopxform.records import record

Room: TypeAlias = c_ast.Node | None
"""A number of elements; None is as many as are used."""


@record
class Place:
    """Elements of `type` that lie behind one another: those of `base` from the offset `start` on,
    at most `room` of them; a `single` object is the only one."""

    base: c_ast.Node
    start: c_ast.Node | None
    type: CType
    room: Room
    single: bool = False

    def at(self, *index: c_ast.Node) -> c_ast.Node:
        """The element with the first index, or what further subscripts name in it."""
        out = clone(self.base)
        first, *rest = index
        if self.start is not None:
            start = clone(self.start)
            first = start if is_zero(first) else build.binary("+", start, first)
        for n in rest if self.single else (first, *rest):
            out = cast(Any, c_ast).ArrayRef(out, clone(n), coord=self.base.coord)
        return out

    def first(self) -> c_ast.Node:
        """The first number, in the nodes of the user's text."""
        out = self.base
        zero = build.number(0, out)
        for n in range((not self.single) + len(self.type.derived)):
            index = self.start if n == 0 and self.start is not None else zero
            out = cast(Any, c_ast).ArrayRef(out, index, coord=self.base.coord)
        return out


def is_zero(n: c_ast.Node) -> bool:
    return isinstance(n, c_ast.Constant) and n.value == "0"


def places(e: c_ast.Node, x: Expressions) -> Iterator[Place]:
    """What an argument points to, as the elements of an array, and then as those of the arrays that
    this one is the first element of."""
    while isinstance(e, c_ast.Cast):
        e = e.expr
    if isinstance(e, c_ast.UnaryOp) and e.op == "&":
        t = x.declared_type(e.expr)
        if t is None or t.derived:
            yield from places(e.expr, x) if t is not None else ()
        elif isinstance(e.expr, c_ast.ArrayRef):
            yield from _inside(e.expr.name, e.expr.subscript, x)
        elif _is_object(t):
            yield Place(e.expr, None, t, build.number(1, e), single=True)
        return
    base, start = _apart(e, x)
    yield from _inside(base, start, x)


def _apart(e: c_ast.Node, x: Expressions) -> tuple[c_ast.Node, c_ast.Node | None]:
    """`a + i` as a pointer and an offset."""
    if isinstance(e, c_ast.BinaryOp) and e.op in ("+", "-"):
        t = x.declared_type(e.left)
        if t is not None and t.derived:
            base, before = _apart(e.left, x)
            here = e.right if e.op == "+" else build.minus(e.right)
            return base, here if before is None else build.binary("+", before, here)
        if e.op == "+":
            return e.right, e.left
    return e, None


def _inside(base: c_ast.Node, start: c_ast.Node | None, x: Expressions) -> Iterator[Place]:
    t = x.declared_type(base)
    if t is None or not t.derived or isinstance(t.derived[0], Func) or t.is_any_volatile:
        return
    inner = replace(t, derived=t.derived[1:])
    rows = all(isinstance(d, Array) for d in inner.derived)
    first = start is None or is_zero(start)
    if rows and (inner.base is not None or inner.record):
        yield Place(base, None if first else start, inner, _room(base, start, t, x))
    if first and isinstance(base, c_ast.ArrayRef) and isinstance(t.derived[0], Array):
        yield from _inside(base.name, base.subscript, x)


def _room(base: c_ast.Node, start: c_ast.Node | None, t: CType, x: Expressions) -> Room:
    """How many elements are left in a row of a matrix, or in an array that is a member: the next
    ones are those of something else."""
    first = t.derived[0]
    if not isinstance(first, Array) or isinstance(base, c_ast.ID):
        return None
    size = None if first.size is None else x.number(first.size)
    begin = 0 if start is None else x.number(start)
    if begin == 0 and first.size is not None:
        return first.size
    return build.number(0 if size is None or begin is None else size - begin, base)


def _is_object(t: CType) -> bool:
    return not t.is_any_volatile and (t.base is not None or bool(t.record))


def is_steady(n: c_ast.Node, x: Expressions) -> bool:
    """Whether an expression is computed from numbers that no store to memory can change."""
    match n:
        case c_ast.Constant() | c_ast.Typename():
            return True
        case c_ast.UnaryOp(op="sizeof"):
            return True
        case c_ast.UnaryOp(op="-" | "+" | "~") | c_ast.Cast():
            return is_steady(n.expr, x)
        case c_ast.BinaryOp():
            return is_steady(n.left, x) and is_steady(n.right, x)
        case c_ast.ID():
            s = x.table.of(n)
            if s is None or s.value is not None:
                return s is not None
            mine = s.kind in ("param", "local", "loop") and "static" not in s.storage
            return mine and s.type.is_scalar and not s.escapes and not s.type.is_any_volatile
        case _:
            return False


def is_fixed(base: c_ast.Node, x: Expressions) -> bool:
    """Whether the object that holds the elements is the same all the time that they are set."""
    for n in every(base):
        if isinstance(n, c_ast.ArrayRef) and not is_steady(n.subscript, x):
            return False
        if isinstance(n, c_ast.BinaryOp | c_ast.FuncCall | c_ast.TernaryOp):
            return False
    return True
