"""Calls that fill or copy memory become the assignments that do the same.

    memset(a, 0, n * sizeof *a)         ->  for (k = 0; k < n; k++) a[k] = 0;
    memset(b, c, n)   of bytes          ->  for (k = 0; k < n; k++) b[k] = (unsigned char)c;
    memcpy(d, s + 2, 4 * sizeof *s)     ->  for (k = 0; k < 4; k++) d[k] = s[2 + k];
    memcpy(&p, &q, sizeof p)            ->  p = q;
    memmove(a + 1, a, n * sizeof *a)    ->  for (k = n - 1; k >= 0; k--) a[1 + k] = a[k];

So it is where whole elements of one type are filled or copied. Other calls stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

from pycparser import c_ast

from loopxform.frontend.desugar import build
from loopxform.frontend.desugar.callee import steps
from loopxform.frontend.desugar.names import Fresh
from loopxform.frontend.lower import byte_counts
from loopxform.frontend.lower.byte_copies import copied, is_readable
from loopxform.frontend.lower.elements import Place, is_fixed, is_steady, places
from loopxform.frontend.lower.expressions import Expressions
from loopxform.frontend.lower.pointers import element
from loopxform.frontend.lower.refusal import NotModelled
from loopxform.frontend.lower.subscripts import subscript
from loopxform.frontend.names.ctype import Array, CType
from loopxform.frontend.names.members import Records
from loopxform.frontend.syntax.places import Inlined
from loopxform.frontend.syntax.tree import clone, every, replace_children
from loopxform.ir.affine import simplify, value_of
from loopxform.ir.nodes import Bin, Expr
from loopxform.ir.types import Scalar

_FILL = {"memset": (0, 1, 2), "bzero": (0, None, 1)}
"""Where the arguments are: the place, the value, the number of bytes."""
_COPY = {"memcpy": (0, 1, 2), "memmove": (0, 1, 2), "bcopy": (1, 0, 2)}
"""Where the arguments are: the target, the source, the number of bytes."""
_OVERLAPPING = frozenset(["memmove", "bcopy"])
_PREFIX = "__builtin_"

_Loop = tuple[str, c_ast.Node, Scalar | None]
"""A counter, how far it counts, and its type."""


def is_memory_call(node: c_ast.Node) -> bool:
    """Whether a node is, by its name, a call that fills or copies memory."""
    return _name(node) in _FILL or _name(node) in _COPY


def _name(node: c_ast.Node) -> str:
    if not isinstance(node, c_ast.FuncCall) or not isinstance(node.name, c_ast.ID):
        return ""
    return str(node.name.name).removeprefix(_PREFIX)


class MemoryCalls:
    """Rewrites the statements of one function, whose names `x` knows."""

    def __init__(self, x: Expressions, records: Records) -> None:
        self.x = x
        self.records = records
        self.fresh = Fresh()

    def visit(self, node: c_ast.Node) -> c_ast.Node:
        """A statement, with the calls in it replaced that are statements."""
        match node:
            case c_ast.FuncCall() | c_ast.Cast():
                return self._call(node)
            case c_ast.For() | c_ast.While() | c_ast.DoWhile() | c_ast.Switch() | c_ast.Label():
                node.stmt = self.visit(node.stmt)
            case c_ast.If():
                node.iftrue = self.visit(node.iftrue)
                node.iffalse = node.iffalse and self.visit(node.iffalse)
            case c_ast.Compound():
                replace_children(node, self.visit)
            case c_ast.Case() | c_ast.Default():
                node.stmts = [self.visit(s) for s in node.stmts]
        return node

    def _call(self, node: c_ast.Node) -> c_ast.Node:
        """What stands in the place of an expression whose value is not used."""
        call = node
        while isinstance(call, c_ast.Cast):
            call = call.expr
        name = _name(call)
        which = _FILL.get(name) or _COPY.get(name)
        if which is None or not isinstance(call, c_ast.FuncCall) or not self._is_library(call):
            return node
        given = list(call.args.exprs) if call.args is not None else []
        inside = [n for a in given for n in every(a)]
        if len(given) != 1 + max(k or 0 for k in which) or any(map(_has_effect, inside)):
            return node
        made = self._filled(name, given) if name in _FILL else self._copied(name, given)
        if made is None:
            return node
        for n in every(made):
            cast(Any, n).coord = Inlined.at(call.coord, name)
        return made

    def _is_library(self, call: c_ast.FuncCall) -> bool:
        """Whether the name is not one of the file's own."""
        symbol = self.x.table.of(call.name)
        hidden = symbol is not None and symbol.is_variable
        return not hidden and cast(Any, call.name).name not in self.x.scope.own

    # ------------------------------------------------------------ filling

    def _filled(self, name: str, given: list[c_ast.Node]) -> c_ast.Node | None:
        to, value, size = _FILL[name]
        byte = build.number(0, given[0]) if value is None else given[value]
        for place in places(given[to], self.x):
            count = byte_counts.elements(given[size], place, self.x)
            if count is None or not is_fixed(place.base, self.x):
                continue
            before = list[c_ast.Node]()
            number = self.x.number(byte)
            loops, index = self._loops(place, count, before)
            target = self._kept_start(place, before).at(*index)
            each = self._kept(byte, before) if number is None else build.number(number, byte)
            body = self._set(target, place.type, each, number)
            if body:
                return build.block([*before, *_nested(loops, body)], byte)
        return None

    def _set(
        self, target: c_ast.Node, t: CType, byte: c_ast.Node, number: int | None
    ) -> list[c_ast.Node]:
        """Assignments that set each byte of an element; none where they cannot be told."""
        if not t.record:
            value = None if t.base is None else _repeated(t.base, byte, number)
            return [] if value is None else [_assigned(target, value)]
        if t.record not in self.records.whole or number != 0:
            return []
        out: list[c_ast.Node] = []
        for name, inner in self.records.fields[t.record].items():
            member = cast(Any, c_ast).StructRef(
                clone(target), ".", build.name(name, target), coord=target.coord
            )
            loops = self._rows(inner)
            for k, _, _ in loops:
                member = cast(Any, c_ast).ArrayRef(member, build.name(k, target), target.coord)
            body = self._set(member, inner, byte, number)
            if not body:
                return []
            out += _nested(loops, body)
        return out

    # ------------------------------------------------------------ copying

    def _copied(self, name: str, given: list[c_ast.Node]) -> c_ast.Node | None:
        to, at, size = _COPY[name]
        for target in places(given[to], self.x):
            for source in places(given[at], self.x):
                if not is_fixed(target.base, self.x) or not is_fixed(source.base, self.x):
                    continue
                found = self._between(target, source, given[size], name in _OVERLAPPING)
                if found is not None:
                    return found
        return None

    def _between(
        self, target: Place, source: Place, size: c_ast.Node, overlapping: bool
    ) -> c_ast.Node | None:
        """A copy from one place to another; None where it is not of whole elements."""
        alike = self._is_alike(target.type, source.type)
        counts = [byte_counts.elements(size, place, self.x) for place in (target, source)]
        known = [n for n in counts if n is not None]
        if len(known) == 2 and alike:
            down = self._runs_down(target, source) if overlapping else False
            return None if down is None else self._copy(target, source, known[0], down=down)
        to, at = target.type, source.type
        numbers = to.base is not None and at.base is not None and not (to.derived or at.derived)
        if alike or not numbers or to.base is None or at.base is None or len(known) < 2:
            return None
        if not is_readable(to.base, at.base) or not self._is_apart(target, source):
            return None
        wide = known[0] if to.base.bytes >= at.base.bytes else known[1]
        before = list[c_ast.Node]()
        larger = target if wide is known[0] else source
        loops, index = self._loops(larger, wide, before)
        target, source = self._kept_start(target, before), self._kept_start(source, before)
        body = [_assigned(t, v) for t, v in copied(target, source, index[0])]
        return build.block([*before, *_nested(loops, body)], size)

    def _is_apart(self, target: Place, source: Place) -> bool:
        """Whether two places are in different objects of different names."""
        try:
            (one, _), (other, _) = (element(p.first(), self.x) for p in (target, source))
        except NotModelled:
            return False
        return one is not other

    def _copy(self, target: Place, source: Place, count: c_ast.Node, *, down: bool) -> c_ast.Node:
        before = list[c_ast.Node]()
        loops, index = self._loops(target, count, before)
        target, source = self._kept_start(target, before), self._kept_start(source, before)
        body = [_assigned(target.at(*index), source.at(*index))]
        return build.block([*before, *_nested(loops, body, down=down)], count)

    def _is_alike(self, one: CType, other: CType) -> bool:
        """Whether elements of the one type have the bytes of those of the other."""
        same = one.base == other.base and one.record == other.record
        if one.base is not None and other.base is not None and not same:
            kinds = {one.base.kind, other.base.kind}
            same = one.base.bytes == other.base.bytes and kinds <= {"int", "uint"}
        sizes, others = ([d.size for d in t.derived if isinstance(d, Array)] for t in (one, other))
        if len(sizes) != len(others):
            return False
        return same and all(byte_counts.is_same(a, b, self.x) for a, b in zip(sizes, others))

    def _runs_down(self, target: Place, source: Place) -> bool | None:
        """Whether the last element must be copied first; None where that is not known."""
        if target.single or source.single:
            return False
        try:
            (one, to), (other, at) = (element(p.first(), self.x) for p in (target, source))
            if one is not other:
                return False
            shift = [self._difference(a, b) for a, b in zip(to, at)]
        except NotModelled:
            return None
        depth = len(shift) - 1 - len(target.type.derived)
        if any(n != 0 for n in [*shift[:depth], *shift[depth + 1 :]]) or shift[depth] is None:
            return None
        return (shift[depth] or 0) > 0

    def _difference(
        self, one: list[tuple[int, c_ast.Node]], other: list[tuple[int, c_ast.Node]]
    ) -> int | None:
        sums: list[Expr] = [
            subscript([(s, self.x.lower(n), n) for s, n in terms], self.x.types)
            for terms in (one, other)
        ]
        return value_of(simplify(Bin("-", *sums)))

    # ------------------------------------------------------------ loops

    def _loops(
        self, place: Place, count: c_ast.Node, before: list[c_ast.Node]
    ) -> tuple[list[_Loop], list[c_ast.Node]]:
        """Loops over all elements of a place and over the rows of each, and the subscripts."""
        rows = self._rows(place.type)
        index = [build.name(k, count) for k, _, _ in rows]
        if place.single or self.x.number(count) == 1:
            return rows, [build.number(0, count), *index]
        t = byte_counts.type_of(count, self.x)
        name = self.fresh.name("k")
        outer = (name, self._kept(count, before), t)
        return [outer, *rows], [build.name(name, count), *index]

    def _rows(self, t: CType) -> list[_Loop]:
        sizes = [d.size for d in t.derived if isinstance(d, Array) and d.size is not None]
        types = [byte_counts.type_of(size, self.x) for size in sizes]
        return [(self.fresh.name("k"), size, t) for size, t in zip(sizes, types)]

    def _kept(self, e: c_ast.Node, before: list[c_ast.Node]) -> c_ast.Node:
        """A number, or a variable that keeps what it is before the elements are set."""
        if is_steady(e, self.x):
            return e
        t = byte_counts.type_of(e, self.x)
        name = self.fresh.name("kept")
        before.append(build.local(name, build.integer(e, (t.c if t else "long")), e, clone(e)))
        return build.name(name, e)

    def _kept_start(self, place: Place, before: list[c_ast.Node]) -> Place:
        if place.start is None:
            return place
        start = self._kept(place.start, before)
        return Place(place.base, start, place.type, place.room)


def _has_effect(n: c_ast.Node) -> bool:
    return steps(n) or isinstance(n, c_ast.FuncCall | c_ast.Compound | c_ast.ExprList)


def _repeated(t: Scalar, byte: c_ast.Node, value: int | None) -> c_ast.Node | None:
    """The number whose bytes all are `byte`."""
    if value is None:
        char = build.cast_to(build.integer(byte, "unsigned char"), clone(byte))
        return char if t.bytes == 1 and t.kind != "bool" else None
    value &= 255
    if value == 0 or (t.kind == "bool" and value == 1):
        return build.number(value, byte)
    if not t.is_integer or t.kind == "bool":
        return None
    number = int.from_bytes([value] * t.bytes, "little", signed=not t.is_unsigned)
    return build.minus(build.number(-number, byte)) if number < 0 else build.number(number, byte)


def _assigned(target: c_ast.Node, value: c_ast.Node) -> c_ast.Node:
    made = cast(Any, c_ast).Assignment("=", clone(target), clone(value), coord=target.coord)
    return cast(c_ast.Node, made)


def _nested(
    loops: Iterable[_Loop], body: list[c_ast.Node], *, down: bool = False
) -> list[c_ast.Node]:
    """The loops, outermost first; `down` says that this one begins with the last element."""
    found = list(loops)
    for depth, loop in reversed(list(enumerate(found))):
        body = [_counting(loop, body, down=down and depth == 0)]
    return body


def _counting(loop: _Loop, body: list[c_ast.Node], *, down: bool) -> c_ast.Node:
    name, count, t = loop
    wide = t is not None and (t.bytes == 8 or t.is_unsigned)
    kind = "long" if down and wide else (t.c if t is not None and t.bytes >= 4 else "int")
    make = cast(Any, c_ast)
    start, cond = build.number(0, count), build.binary("<", build.name(name, count), clone(count))
    if down:
        last = build.cast_to(build.integer(count, "long"), clone(count)) if wide else clone(count)
        start = build.binary("-", last, build.number(1, count))
        cond = build.binary(">=", build.name(name, count), build.number(0, count))
    init = build.declarations(build.local(name, build.integer(count, kind), count, start))
    step = build.step("-" * 2 if down else "+" * 2, name, count)
    inner = build.block(body, count)
    return cast(c_ast.Node, make.For(init, cond, step, inner, coord=count.coord))
