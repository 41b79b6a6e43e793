"""One pointer that moves: the text falls into pieces, each from an assignment that says what the
pointer is relative to, to the end of the block it stands in or to the next such assignment.

Inside a piece the pointer is `base + offset`, and all that is done to it is done to the offset.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

from pycparser import c_ast

from loopxform.frontend.desugar import build
from loopxform.frontend.desugar.names import OFFSET, Fresh, Mentions, changed, mentioned
from loopxform.frontend.desugar.offsets import PlaceIn, Pointers, elements, place_of
from loopxform.frontend.desugar.stepped import stepped
from loopxform.frontend.syntax.tree import (
    clone,
    copied_along,
    replace_children,
    shallow,
    statements,
)


class Stray(Exception):
    """A use of the pointer that cannot be told what it is relative to."""


@dataclass
class _Piece:
    """`start` is the offset that the piece begins with, while nothing has moved it."""

    base: str
    offset: str
    start: c_ast.Node | None
    depth: int

    def here(self, at: c_ast.Node) -> c_ast.Node:
        """The offset in an expression."""
        if isinstance(self.start, c_ast.Constant):
            return build.number(int(str(self.start.value)), at)
        return build.name(self.offset, at)


class Pieces:
    def __init__(self, name: str, decl: c_ast.Decl, pointers: Pointers, fresh: Fresh) -> None:
        self.name = name
        self.decl = decl
        self.pointers = pointers
        self.fresh = fresh
        self.depth = 0
        self.holders: dict[int, c_ast.Node] = {}

    def run(self, mentions: Mentions, *, local: bool) -> c_ast.Node:
        """The body of the function without the pointer, which is left as it is; Stray where that
        cannot be."""
        body, self.holders = copied_along(mentions.body, mentions.holders(self.name))
        items = statements(body)
        if local:
            return build.block(self.items(items, None), body)
        zero = build.number(0, body)
        # The parameter itself stays, with the value that the caller gave it.
        piece = _Piece(self.name, self.fresh.name(f"{self.name}{OFFSET}"), zero, 0)
        out = self.items(items, piece)
        if self.name not in self.pointers.changed:
            return build.block(out, body)
        start = build.local(piece.offset, build.integer(body, "long"), body, clone(zero))
        return build.block([start, *out], body)

    # ------------------------------------------------------------ statements

    def items(self, items: list[c_ast.Node], current: _Piece | None) -> list[c_ast.Node]:
        """The statements of a block; `current` is the piece they begin in."""
        self.depth += 1
        out: list[c_ast.Node] = []
        for n, s in enumerate(items):
            if isinstance(s, c_ast.Decl) and s.name == self.name and s.init is None:
                continue
            inherited = None if current is not None and current.depth == self.depth else current
            value = self._setting(s)
            if value is not None:
                made, current = self._set(s, value, inherited, out)
                out.append(made)
                continue
            if isinstance(s, c_ast.For) and (value := self._setting(s.init)) is not None:
                s = self._own(s)
                last = inherited is None and self._is_over(items[n + 1 :])
                s.init, current = self._set(s.init, value, inherited, out, loop=True, last=last)
            out.append(self.statement(s, current))
        self.depth -= 1
        return out

    def _own(self, s: c_ast.For) -> c_ast.For:
        """The statement, or a copy where it belongs to the text that is left as it is."""
        return s if id(s) in self.holders else cast(c_ast.For, shallow(s))

    def _is_over(self, rest: list[c_ast.Node]) -> bool:
        """Whether the pointer is not used before it is set again."""
        for s in rest:
            value = self._setting(s) or self._setting(getattr(s, "init", None))
            if value is not None or id(s) in self.holders:
                return value is not None
        return True

    def _setting(self, s: c_ast.Node | None) -> c_ast.Node | None:
        """What a statement sets the pointer to, afresh."""
        match s:
            case c_ast.Assignment(op="=", lvalue=c_ast.ID(name=name), rvalue=value):
                pass
            case c_ast.Decl(name=name, init=value) if value is not None:
                pass
            case c_ast.DeclList(decls=[c_ast.Decl(name=name, init=value)]) if value is not None:
                pass
            case _:
                return None
        return value if name == self.name and name not in mentioned(value) else None

    def _set(
        self,
        s: c_ast.Node,
        value: c_ast.Node,
        current: _Piece | None,
        out: list[c_ast.Node],
        *,
        loop: bool = False,
        last: bool = False,
    ) -> tuple[c_ast.Node, _Piece]:
        """The statement that sets the offset, or declares it; what comes before goes to `out`. A
        loop declares it where that is its `last` use."""
        place = self._place(value)
        if current is not None:
            if place is None or place.base != current.base:
                raise Stray
            current.start = None
            return build.assignment(current.offset, place.offset(s), s), current
        if place is None:
            place = self._kept(value, out)
        start = place.offset(s)
        known = isinstance(start, c_ast.Constant) and str(start.value).isdecimal()
        piece = _Piece(place.base, self.fresh.name(self.name), start if known else None, self.depth)
        long = build.integer(s, "long")
        if not loop:
            return build.local(piece.offset, long, s, clone(start)), piece
        piece.start = None
        if last:
            return build.declarations(build.local(piece.offset, long, s, clone(start))), piece
        out.append(build.local(piece.offset, long, s))
        return build.assignment(piece.offset, clone(start), s), piece

    def _place(self, value: c_ast.Node) -> PlaceIn | None:
        """What a value is relative to, where the elements have the pointer's own type."""
        found = place_of(value, self.pointers)
        mine = elements(self.decl)
        if found is None or mine is None:
            return None
        if found.base in self.pointers.own:
            return found if self.pointers.elements(found.base) == mine else None
        return None

    def _kept(self, value: c_ast.Node, out: list[c_ast.Node]) -> PlaceIn:
        """A new pointer that holds `value`."""
        if not isinstance(self.decl.type, c_ast.PtrDecl) or _leaves_row(value):
            raise Stray
        base = self.fresh.name(f"{self.name}_start")
        out.append(build.local(base, self.decl.type, value, value))
        return PlaceIn(base)

    def statement(self, s: c_ast.Node, current: _Piece | None) -> c_ast.Node:
        """A statement that does not set the pointer afresh."""
        match s:
            case c_ast.Compound():
                return build.block(self.items(statements(s), current), s)
            case c_ast.For() | c_ast.While() | c_ast.DoWhile():
                self._begin(s, current)
                if current is not None and self.name in changed(s):
                    current.start = None
                for part in ("init", "cond", "next"):
                    if getattr(s, part, None) is not None:
                        setattr(s, part, self.expression(getattr(s, part), current))
                s.stmt = self.body(s.stmt, current)
                return s
            case c_ast.If():
                s.cond = self.expression(s.cond, current)
                s.iftrue = self.body(s.iftrue, current)
                s.iffalse = None if s.iffalse is None else self.body(s.iffalse, current)
                return s
            case _:
                return self.expression(s, current)

    def body(self, s: c_ast.Node, current: _Piece | None) -> c_ast.Node:
        if id(s) not in self.holders:
            return s
        return build.block(self.items(statements(s), current), s)

    def _begin(self, s: c_ast.Node, current: _Piece | None) -> None:
        """Gives a loop over the pointer without a start the one that the piece began with."""
        loop = isinstance(s, c_ast.For) and s.init is None and s.next is not None
        if loop and current is not None and current.start is not None:
            own = current.base == self.name and self.depth == 1
            here = current.depth == self.depth or own
            if here and stepped(cast(Any, s).next) == self.name:
                cast(Any, s).init = build.assignment(current.offset, clone(current.start), s)

    # ------------------------------------------------------------ expressions

    def expression(self, n: c_ast.Node, current: _Piece | None, *, top: bool = True) -> c_ast.Node:
        """An expression, or a statement made of one, with the offset in place of the pointer."""
        if id(n) not in self.holders:
            return n
        if current is None:
            raise Stray
        if isinstance(n, c_ast.UnaryOp) and n.op in ("++", "--", "p++", "p--") and self._is(n.expr):
            n.expr = build.name(current.offset, n)
            current.start = None
            return n if top else build.binary("+", build.name(current.base, n), n)
        if isinstance(n, c_ast.Assignment) and self._is(n.lvalue):
            if not top:
                raise Stray
            current.start = None
            return self._moved(n, current)
        match n:
            case c_ast.UnaryOp(op="sizeof") if self._is(n.expr):
                raise Stray
            case c_ast.ID():
                base, here = build.name(current.base, n), current.here(n)
                start = isinstance(here, c_ast.Constant) and here.value == "0"
                return base if start else build.binary("+", base, here)
            case c_ast.UnaryOp(op="*") if self._is(n.expr):
                return build.element(current.base, current.here(n), n)
            case c_ast.ArrayRef() if self._is(n.name):
                sub = self.expression(n.subscript, current, top=False)
                total = build.binary("+", current.here(n), sub)
                return build.element(current.base, total, n)
            case c_ast.StructRef():
                n.name = self.expression(n.name, current, top=False)
                return n
        inside = top and isinstance(n, c_ast.ExprList | c_ast.Cast)
        replace_children(n, lambda x: self.expression(x, current, top=inside))
        return n

    def _moved(self, n: c_ast.Assignment, current: _Piece) -> c_ast.Node:
        if n.op in ("+=", "-="):
            n.lvalue = build.name(current.offset, n)
            n.rvalue = self.expression(n.rvalue, current, top=False)
            return n
        value = self.expression(n.rvalue, current, top=False)
        own = Pointers(self.pointers.own, self.pointers.arrays, self.pointers.changed - {self.name})
        place = place_of(value, own) if n.op == "=" else None
        if place is None or place.base != current.base:
            raise Stray
        return build.assignment(current.offset, place.offset(n), n)

    def _is(self, n: c_ast.Node) -> bool:
        return isinstance(n, c_ast.ID) and n.name == self.name


def _leaves_row(value: c_ast.Node) -> bool:
    """Whether a value looks like the first element of a matrix, from which a pointer may walk
    through all rows: `&m[0][0]`, `*m`, `m[0]`."""
    match value:
        case c_ast.UnaryOp(op="&", expr=c_ast.ArrayRef(name=c_ast.ArrayRef())):
            return True
        case c_ast.UnaryOp(op="*") | c_ast.ArrayRef(subscript=c_ast.Constant()):
            return True
        case c_ast.Cast():
            return _leaves_row(value.expr)
        case _:
            return False
