"""Elements of arrays that decide how often loops run, and are the same all the while statements
run: numbers to the function that stands for these.

    for (i = 1; i < size[0] - 1; i++)         f_1(size[0], ...)
      a[i] = 0;                         ->      for (i = 1; i < size_0 - 1; i++) a[i] = 0;

It is read before the statements run. So it has to be there, and nothing that they store may be it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pycparser import c_ast

from loopxform.frontend.names.expression_types import ExpressionTypes, FileTypes
from loopxform.frontend.names.variables import Variables, changed
from loopxform.frontend.outline.untouched import Differ, is_pure
from loopxform.frontend.syntax.tree import below, every
from loopxform.records import record


@record
class Element:
    """`array[subscripts]`, with the declarations of its array and of a number of its type."""

    array: str
    subscripts: tuple[int, ...]
    declared: c_ast.Decl
    type: c_ast.Node

    @property
    def text(self) -> str:
        """The element in C."""
        return self.array + "".join(f"[{n}]" for n in self.subscripts)


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
        heads = {id(x) for s in loops for part in (s.init, s.cond) for x in _all(part)}
        wanted = {e.text for x, e in mentioned.items() if x in heads}
        return {x: e for x, e in mentioned.items() if e.text in wanted and self._is_fixed(e)}

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

    def _is_fixed(self, e: Element) -> bool:
        return (
            not any(self._may_be(place, e) for place in self.stores)
            and not any(self._names(place, e) for place in self.stores)
            and (self._is_there(e) or self._is_read(e))
        )

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
