"""Elements of arrays that decide how often loops run, or are in subscripts (how long rows are),
and are the same all the while statements run: numbers to the function that stands for these.

    for (i = 1; i < size[0] - 1; i++)         f_1(size[0], ...)
      a[i] = 0;                         ->      for (i = 1; i < size_0 - 1; i++) a[i] = 0;

It is read before the statements run. So it has to be there, and nothing that they store may be it.
Programs that were Fortran pass sizes by pointers, and copy them (`i__2 = *m; for (i = 1; i <= i__2;
...)`). What a pointer leads to that is used as `*m` alone is read where it is not null, and the
outermost loop has an iteration.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import replace
from typing import TypeGuard, cast

from pycparser import c_ast
from pycparser.c_generator import CGenerator

from loopxform.frontend.desugar import build
from loopxform.frontend.names.expression_types import ExpressionTypes, FileTypes
from loopxform.frontend.names.variables import Variables, changed
from loopxform.frontend.outline.removable import marks_scop
from loopxform.frontend.outline.untouched import Differ, is_pure
from loopxform.frontend.syntax.tree import below, every, replace_children, shallow
from loopxform.records import record


@record
class Element:
    """`array[subscripts]`, with the declarations of its array and of a number of its type; `when`
    is the condition in C under which it is there, empty where it is sure to be."""

    array: str
    subscripts: tuple[int, ...]
    declared: c_ast.Decl
    type: c_ast.Node
    when: str = ""

    @property
    def text(self) -> str:
        """The element in C."""
        return self.array + "".join(f"[{n}]" for n in self.subscripts)

    @property
    def argument(self) -> str:
        """The element, or any number where it is not there."""
        return f"{self.when} ? {self.text} : 0" if self.when else self.text


class FixedElements:
    """Those of some statements of a function; `globals` are what the file declares."""

    def __init__(
        self,
        region: Sequence[c_ast.Node],
        variables: Variables,
        file: FileTypes,
        globals: Mapping[str, c_ast.Node],
        differ: Differ,
    ) -> None:
        self.variables, self.globals, self.differ = variables, globals, differ
        self.types = ExpressionTypes(variables, file)
        self.region = region
        inside = [x for n in region for x in every(n)]
        self.stores = [place for place in map(changed, inside) if place is not None]
        self.calls = any(isinstance(x, c_ast.FuncCall) and not is_pure(x) for x in inside)
        self.local = {id(x) for x in inside if isinstance(x, c_ast.Decl)}
        self.at = {} if self.calls else self._found(inside)

    def _found(self, inside: Sequence[c_ast.Node]) -> dict[int, Element]:
        """The elements, by the identity of the nodes that name them."""
        mentioned = {id(x): e for x in inside if (e := self._element(x)) is not None}
        loops = [x for x in inside if isinstance(x, c_ast.For)]
        heads = {id(x): x for s in loops for part in (s.init, s.cond) for x in _all(part)}
        ends = {x.name for x in heads.values() if isinstance(x, c_ast.ID)}
        copied = {id(value) for x in inside if (value := _set_to(x, ends)) is not None}
        rows = {id(y) for x in inside if isinstance(x, c_ast.ArrayRef) for y in _all(x.subscript)}
        deciding = heads.keys() | copied | rows
        wanted = {e.text: e for x, e in mentioned.items() if x in deciding}
        fixed = {text: f for text, e in wanted.items() if (f := self._fixed(e)) is not None}
        return {x: fixed[e.text] for x, e in mentioned.items() if e.text in fixed}

    def _element(self, x: c_ast.Node) -> Element | None:
        subscripts: list[int] = []
        place = x
        while isinstance(place, c_ast.ArrayRef):
            n = place.subscript
            if not (isinstance(n, c_ast.Constant) and n.type == "int" and n.value.isdecimal()):
                return None
            subscripts.insert(0, int(n.value))
            place = place.name
        if isinstance(place, c_ast.UnaryOp) and place.op == "*":
            subscripts.insert(0, 0)
            place = place.expr
        if not subscripts or not isinstance(place, c_ast.ID):
            return None
        decl = self._declared(place)
        if decl is None or id(decl) in self.local or {"volatile", "_Atomic"} & set(decl.quals):
            return None
        t = self.variables.resolved(decl)
        for _ in subscripts:
            if not isinstance(t, c_ast.PtrDecl | c_ast.ArrayDecl):
                return None
            last, t = t.type, self.variables.resolved(t.type)
        words = self.variables.words(last)
        if not isinstance(last, c_ast.TypeDecl) or not words or not words <= _INTEGERS:
            return None
        if "volatile" in last.quals:
            return None
        return Element(str(place.name), tuple(subscripts), decl, last)

    def _declared(self, x: c_ast.ID) -> c_ast.Decl | None:
        found = self.variables.meant.get(id(x)) or self.globals.get(x.name)
        return found if isinstance(found, c_ast.Decl) else None

    def _fixed(self, e: Element) -> Element | None:
        """The element with what has to be asked before it is read; None where it may change."""
        if any(self._may_be(place, e) or self._names(place, e) for place in self.stores):
            return None
        if self._is_there(e) or self._is_read(e):
            return e
        begins = self._begins() if self._is_argument(e) else None
        if begins is None or not _is_plain(begins):
            return None
        asked = build.binary("&&", begins, build.name(e.array, begins))
        return replace(e, when=CGenerator().visit(asked))

    def _is_argument(self, e: Element) -> bool:
        """Whether a parameter of the function stands for a number: it is used as `*p` alone."""
        p = e.declared
        if id(p) not in self.variables.params or e.subscripts != (0,):
            return False
        named = {x for x, d in self.variables.meant.items() if d is p}
        places = (x.expr for x in every(self.variables.body) if _is_value(x))
        return named == {id(x) for x in places if id(x) in named}

    def _begins(self) -> c_ast.Node | None:
        """The condition under which the one loop of the statements has an iteration; None where
        that is not plain."""
        match [s for s in self.region if not marks_scop(s)]:
            case [c_ast.For(init=c_ast.Assignment(op="=", lvalue=c_ast.ID() as var) as at) as loop]:
                decl, first = self._declared(var), at.rvalue
            case [c_ast.For(init=c_ast.DeclList(decls=[c_ast.Decl() as decl])) as loop]:
                first = decl.init
            case _:
                return None
        match first, loop.cond:
            case (
                c_ast.Constant(type="int"),
                c_ast.BinaryOp(op="<" | "<=" as op, left=c_ast.ID(name=name), right=end),
            ) if decl is not None and name == decl.name:
                words = self.variables.words(decl)
                counts = self.variables.kind(decl) == "number" and words and words <= _SIGNED
                return build.binary(op, first, _at_entry(end)) if counts else None
            case _:
                return None

    def _names(self, place: c_ast.Node, e: Element) -> bool:
        """Whether a place is the pointer itself."""
        return isinstance(place, c_ast.ID) and self._declared(place) is e.declared

    def _may_be(self, place: c_ast.Node, e: Element) -> bool:
        """Whether a place may be in memory that an element is in."""
        if isinstance(place, c_ast.ID):
            return False
        types = self.types.types(place)
        words, own = [self._words(t) for t in types], self._words(e.type)
        if words and all(w and self.differ(w, own) for w in words):
            return False
        root = place
        while isinstance(root, c_ast.StructRef) and root.type == ".":
            root = root.name
        while isinstance(root, c_ast.ArrayRef):
            root = root.name
        decl = self._declared(root) if isinstance(root, c_ast.ID) else None
        apart = decl is not None and decl is not e.declared and self._is_object(decl)
        return not (apart and self._is_object(e.declared))

    def _words(self, t: c_ast.Node) -> frozenset[str]:
        """Those of a type that say what lies in memory; none of a struct."""
        words = self.variables.words(t)
        return words and (words - _SIGNS or frozenset(["int"]))

    def _is_object(self, d: c_ast.Decl) -> bool:
        """Whether it is memory of its own, with no pointer on the way."""
        kinds = list(self.variables.levels(d))
        is_array = bool(kinds) and not any(kinds) and id(d) not in self.variables.params
        return is_array or self.variables.kind(d) == "struct"

    def _is_there(self, e: Element) -> bool:
        """Whether the array is declared with this element."""
        t: c_ast.Node = self.variables.resolved(e.declared)
        sizes = []
        while isinstance(t, c_ast.ArrayDecl):
            sizes.append(t.dim)
            t = self.variables.resolved(t.type)
        known = [int(s.value) for s in sizes if isinstance(s, c_ast.Constant) and s.type == "int"]
        return (
            self._is_object(e.declared)
            and len(known) == len(sizes)
            and all(n < size for n, size in zip(e.subscripts, known))
        )

    def _is_read(self, e: Element) -> bool:
        """Whether the statements are sure to read it, or one behind it in the same array."""
        certain = (x for s in self.region if isinstance(s, c_ast.For) for x in _certain(s))
        read = (self._element(x) for x in certain)
        return len(e.subscripts) == 1 and any(
            r.declared is e.declared and r.subscripts >= e.subscripts for r in read if r is not None
        )


def _is_value(x: c_ast.Node) -> TypeGuard[c_ast.UnaryOp]:
    return isinstance(x, c_ast.UnaryOp) and x.op == "*" and isinstance(x.expr, c_ast.ID)


def _at_entry(end: c_ast.Node) -> c_ast.Node:
    """A copy of the end of a loop, `n[0]` for `*n`."""
    if _is_value(end):
        return build.element(end.expr.name, build.number(0, end), end)
    out = shallow(end)
    replace_children(out, _at_entry)
    return out


def _is_plain(condition: c_ast.Node) -> bool:
    """Whether a condition can be asked for in front of a loop."""
    plain = c_ast.ID | c_ast.Constant | c_ast.BinaryOp | c_ast.ArrayRef
    return all(isinstance(x, plain) for x in every(condition))


def _set_to(x: c_ast.Node, ends: Set[str]) -> c_ast.Node | None:
    """What a variable is set to that is one of the ends of loops."""
    match x:
        case c_ast.Assignment(op="=", lvalue=c_ast.ID(name=name)) if name in ends:
            return cast(c_ast.Node, x.rvalue)
        case c_ast.Decl(name=name) if name in ends:
            return cast(c_ast.Node | None, x.init)
        case _:
            return None


def _certain(loop: c_ast.For) -> Iterator[c_ast.Node]:
    """What is computed before the first iteration."""
    waiting = [x for x in (loop.init, loop.cond) if x is not None]
    while waiting:
        x = waiting.pop()
        yield x
        match x:
            case c_ast.BinaryOp(op="&&" | "||", left=first) | c_ast.TernaryOp(cond=first):
                waiting.append(first)
            case c_ast.UnaryOp(op="sizeof"):
                pass
            case _:
                waiting += below(x)


def _all(node: c_ast.Node | None) -> Iterator[c_ast.Node]:
    return iter(()) if node is None else iter(every(node))


_SIGNS = frozenset(["signed", "unsigned"])
_INTEGERS = _SIGNS | frozenset(["int", "long", "short"])
_SIGNED = frozenset(["signed", "int", "long"])
"""Types that a constant has the same value in, and which compare as it does."""
