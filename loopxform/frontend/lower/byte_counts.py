"""Numbers of bytes as numbers of elements: `n * sizeof *a` of floats is `n`.

n * 4, 4 * (size_t)n      of an `int` n: no product of these overflows, or C says nothing
sizeof(float) * n * m     the factors n and m, multiplied as long
(b - a) * sizeof *p       of size_t: (long)b - (long)a, because no object is larger
"""

from __future__ import annotations

from functools import reduce
from math import prod

from pycparser import c_ast

from loopxform.frontend.desugar import build
from loopxform.frontend.lower.elements import Place
from loopxform.frontend.lower.expressions import Expressions
from loopxform.frontend.lower.pointers import same_size
from loopxform.frontend.lower.refusal import NotModelled
from loopxform.frontend.names.ctype import Array, CType, ctype
from loopxform.frontend.syntax.tree import every
from loopxform.ir.types import Scalar

Factors = tuple[int, list[c_ast.Node]]


def elements(size: c_ast.Node, place: Place, x: Expressions) -> c_ast.Node | None:
    """How many elements of a place `size` bytes are; None where that is not known, or there are
    not so many."""
    found = _factors(size, x)
    unit = None if found is None else _unit(place.type, found[1], x)
    if found is None or unit is None:
        return None
    bytes, rest = unit
    if bytes == 0 or found[0] % bytes:
        return None
    count = _product(found[0] // bytes, rest, size, x)
    return count if count is not None and is_within(count, place, x) else None


def is_within(count: c_ast.Node, place: Place, x: Expressions) -> bool:
    """Whether a place has so many elements."""
    if place.room is None:
        return True
    wanted, there = x.number(count), x.number(place.room)
    if wanted is not None and there is not None:
        return wanted <= there
    return same_size(count, place.room, x)


def is_same(one: c_ast.Node | None, other: c_ast.Node | None, x: Expressions) -> bool:
    """Whether two sizes of arrays are one number."""
    a, b = (None if n is None else x.number(n) for n in (one, other))
    return a == b if a is not None else same_size(one, other, x)


def type_of(node: c_ast.Node, x: Expressions) -> Scalar | None:
    """The type of an integer; None of what is no integer, or not modelled."""
    try:
        t = x.type_of(x.lower(node))
    except NotModelled:
        return None
    return t if t.is_integer else None


def _factors(node: c_ast.Node, x: Expressions) -> Factors | None:
    """A constant, and what it is multiplied by; None where the product may wrap around."""
    while isinstance(node, c_ast.Cast) and _keeps(node, x):
        node = node.expr
    value = x.number(node)
    if value is not None:
        return value, []
    if isinstance(node, c_ast.UnaryOp) and node.op == "sizeof":
        sized = x.declared_type(node.expr)
        return None if sized is None else _sizes(sized, x)
    t = type_of(node, x)
    if not isinstance(node, c_ast.BinaryOp) or node.op != "*":
        return None if t is None else (1, [node])
    left, right = _factors(node.left, x), _factors(node.right, x)
    if left is None or right is None:
        return None if t is None else (1, [node])
    if left[1] and right[1] and left[0] == right[0] == 1:
        return None if t is None else (1, [node])
    # A product of which no type is known has the size of an array in it, a size_t.
    if t is not None and t.is_unsigned and t.bytes < 8:
        return None
    return left[0] * right[0], left[1] + right[1]


def _sizes(t: CType, x: Expressions) -> Factors | None:
    """The size of an array as a product of those of its elements and its dimensions."""
    bytes = x.size_of(CType(t.base, t.spelling, record=t.record))
    sizes = [d.size if isinstance(d, Array) else None for d in t.derived]
    known = [n for n in sizes if n is not None]
    if bytes is None or len(known) < len(sizes):
        return None
    numbers = [x.number(n) for n in known]
    left = [n for n, value in zip(known, numbers) if value is None]
    return bytes * prod(v for v in numbers if v is not None), left


def _keeps(node: c_ast.Cast, x: Expressions) -> bool:
    """Whether a cast to a wide integer type leaves every size as it is."""
    wide, inner = ctype(node.to_type, x.typedef), type_of(node.expr, x)
    return wide.is_scalar and wide.base is not None and inner is not None and (
        wide.base.is_integer and wide.base.bytes == 8
    )  # fmt: skip


def _unit(t: CType, rest: list[c_ast.Node], x: Expressions) -> Factors | None:
    """The bytes of an element, and the factors that are left once its own sizes are taken away."""
    sizes = [d.size for d in t.derived if isinstance(d, Array)]
    symbolic = any(n is not None and x.number(n) is None for n in sizes)
    left = [part for f in rest for part in _split(f, x)] if symbolic else list(rest)
    numbers: list[int] = []
    for d in t.derived:
        if not isinstance(d, Array) or d.size is None:
            return None
        value = x.number(d.size)
        if value is None:
            mine = next((f for f in left if same_size(f, d.size, x)), None)
            if mine is None:
                return None
            left = [f for f in left if f is not mine]
        else:
            numbers.append(value)
    element = x.size_of(CType(t.base, t.spelling, record=t.record))
    return None if element is None else (element * prod(numbers), left)


def _split(node: c_ast.Node, x: Expressions) -> list[c_ast.Node]:
    """The factors of a product that does not wrap around."""
    if isinstance(node, c_ast.BinaryOp) and node.op == "*":
        t = type_of(node, x)
        if t is not None and (t.bytes == 8 or not t.is_unsigned):
            return [*_split(node.left, x), *_split(node.right, x)]
    return [node]


def _product(
    number: int, rest: list[c_ast.Node], at: c_ast.Node, x: Expressions
) -> c_ast.Node | None:
    if not rest:
        return build.number(number, at)
    parts = [_signed(f, x) for f in rest]
    if number != 1:
        parts.append(build.number(number, at))
    if len(parts) == 1:
        return parts[0]
    if type_of(parts[0], x) is None:
        return None
    long = build.integer(at, "long")
    return reduce(lambda a, b: build.binary("*", a, b), [build.cast_to(long, parts[0]), *parts[1:]])


def _signed(node: c_ast.Node, x: Expressions) -> c_ast.Node:
    """A difference of unsigned numbers of 64 bits as one of signed numbers."""
    t = type_of(node, x)
    minus = any(isinstance(n, c_ast.BinaryOp) and n.op == "-" for n in every(node))
    if t is None or not t.is_unsigned or t.bytes < 8 or not minus:
        return node
    return _as_long(node, x)


def _as_long(node: c_ast.Node, x: Expressions) -> c_ast.Node:
    if isinstance(node, c_ast.BinaryOp) and node.op in ("+", "-", "*"):
        t = type_of(node, x)
        if t is not None and t.bytes == 8:
            return build.binary(node.op, _as_long(node.left, x), _as_long(node.right, x))
    if x.number(node) is not None:
        return node
    return build.cast_to(build.integer(node, "long"), node)
