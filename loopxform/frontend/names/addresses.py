"""Whether statements may reach a variable of their function through a pointer to it.

Only what `&x` was given to has its address. A function that forgets it (`scanf`) has it no more
when it returns; any other may keep it, in memory or in what it returns. No parameter holds it, for
its value is older than the variable, nor does memory from `malloc`, an array, or a pointer that was
only ever set to these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from pycparser import c_ast

from loopxform.frontend.names.library import BORROWING
from loopxform.frontend.names.variables import Variables, changed
from loopxform.frontend.syntax.tree import every

_ALLOCATING = frozenset(["malloc", "calloc", "realloc", "aligned_alloc", "memalign", "valloc"])


class Addresses:
    """Those of the variables of a function; `globals` are what the file declares, `differ` says of
    the words of two types that no object is of both."""

    def __init__(
        self,
        variables: Variables,
        body: c_ast.Node,
        globals: Mapping[str, c_ast.Node],
        differ: Callable[[frozenset[str], frozenset[str]], bool],
    ) -> None:
        self.variables, self.globals, self.differ = variables, globals, differ
        calls = [x for x in every(body) if isinstance(x, c_ast.FuncCall) and x.args is not None]
        self.forgotten = self._given(calls, BORROWING)
        self.allocated = self._given(calls, frozenset(["posix_memalign"]))

    def _given(self, calls: Iterable[c_ast.FuncCall], names: frozenset[str]) -> set[int]:
        """The arguments of calls of some functions."""
        return {id(_plain(a)) for call in calls if self._calls(call, names) for a in call.args}

    def is_reached(
        self, d: c_ast.Decl, inside: Iterable[c_ast.Node], *, is_set: bool, calls: bool
    ) -> bool:
        """Whether statements, the nodes of which are `inside`, may set `d` through a pointer, or
        read it where it `is_set`; `calls`: some of them call a function that may do so."""
        inside = list(inside)
        escaping = self.variables.escaping[id(d)]
        nodes = set(map(id, inside))
        if any(id(x) in nodes for x in escaping):
            return True
        if all(id(x) in self.forgotten for x in escaping):
            return False
        targets = (changed(x) for x in inside)
        places = inside if is_set else [x for x in targets if x is not None]
        return calls or any(self._may_be(x, d) for x in places if _is_access(x))

    def _may_be(self, place: c_ast.Node, d: c_ast.Decl) -> bool:
        """Whether a place that a pointer leads to may be a variable."""
        root, levels = _base(place)
        decl = self._declared(root)
        if decl is None:
            return True
        own, words = (self.variables.words(x) - _SIGNS for x in (d, decl))
        if words and own and not words & _CHARACTERS and self.differ(words, own):
            return False
        if self._pointers(decl, levels) > (0 if self._is_array(decl) else 1):
            return True  # the pointer itself comes from memory
        lasts = not {"static", "extern"}.isdisjoint(d.storage)
        return lasts or not self._is_elsewhere(root, d, frozenset())

    def _is_elsewhere(self, x: c_ast.Node | None, d: c_ast.Decl, seen: frozenset[int]) -> bool:
        """Whether the value of an expression is no address of `d`."""
        match _plain(x):
            case c_ast.Constant():
                return True
            case c_ast.FuncCall() as call:
                return self._calls(call, _ALLOCATING)
            case c_ast.UnaryOp(op="&", expr=place):
                root, levels = _base(place)
                decl = self._declared(root)
                if decl is None or decl is d:
                    return False
                leads = self._pointers(decl, levels)
                return leads == 0 or (leads == 1 and self._is_elsewhere(root, d, seen))
            case c_ast.TernaryOp(iftrue=a, iffalse=b):
                return self._is_elsewhere(a, d, seen) and self._is_elsewhere(b, d, seen)
            case c_ast.BinaryOp(op="+" | "-" as op, left=a, right=b):
                sides = [x for x in ([a, b] if op == "+" else [a]) if not _is_number(x)]
                return any(self._is_elsewhere(x, d, seen) for x in sides)
            case c_ast.ID() as name:
                return self._holds_another(name, d, seen)
            case _:
                return False

    def _holds_another(self, x: c_ast.ID, d: c_ast.Decl, seen: frozenset[int]) -> bool:
        """Whether a variable never holds the address of `d`."""
        decl = self._declared(x)
        if decl is None or decl is d:
            return False
        if self._is_array(decl) or id(decl) in seen:
            return True
        if id(x) not in self.variables.meant or self.variables.kind(decl) not in _POINTERS:
            return False
        if any(id(y) not in self.allocated for y in self.variables.escaping[id(decl)]):
            return False
        return all(self._is_elsewhere(v, d, seen | {id(decl)}) for v in self._values(decl))

    def _values(self, decl: c_ast.Decl) -> Iterator[c_ast.Node]:
        """What a pointer is set to; steps from where it is lead to the same object."""
        if decl.init is not None:
            yield decl.init
        for x in self.variables.sets[id(decl)]:
            if isinstance(x, c_ast.Assignment) and x.op == "=":
                yield x.rvalue

    def _declared(self, x: c_ast.Node | None) -> c_ast.Decl | None:
        if not isinstance(x, c_ast.ID):
            return None
        decl = self.variables.meant.get(id(x)) or self.globals.get(x.name)
        return decl if isinstance(decl, c_ast.Decl) else None

    def _is_array(self, decl: c_ast.Decl) -> bool:
        """Whether it is memory of its own: as a parameter, an array is a pointer."""
        is_array = self.variables.kind(decl) == "array"
        return is_array and id(decl) not in self.variables.params

    def _pointers(self, decl: c_ast.Decl, levels: int) -> int:
        """How many pointers so many subscripts follow; all of a struct's are counted."""
        types = list(self.variables.levels(decl))[:levels]
        first = [True] if types and id(decl) in self.variables.params else types[:1]
        return sum([*first, *types[1:]]) + max(0, levels - len(types))

    def _calls(self, call: c_ast.FuncCall, names: frozenset[str]) -> bool:
        """Whether it calls one of the functions of the library called so."""
        called = call.name
        if not isinstance(called, c_ast.ID) or id(called) in self.variables.meant:
            return False
        return called.name in names and called.name not in self.globals


_SIGNS = frozenset(["signed", "unsigned"])
_CHARACTERS = frozenset(["char"])
_POINTERS = ("pointer", "array")


def _plain(x: c_ast.Node | None) -> c_ast.Node | None:
    while isinstance(x, c_ast.Cast):
        x = x.expr
    return x


def _is_number(x: c_ast.Node) -> bool:
    return isinstance(_plain(x), c_ast.Constant)


def _is_access(x: c_ast.Node) -> bool:
    """Whether a place is one that a pointer, or the name of an array, leads to."""
    if isinstance(x, c_ast.StructRef):
        return x.type == "->" or _is_access(x.name)
    return isinstance(x, c_ast.ArrayRef) or (isinstance(x, c_ast.UnaryOp) and x.op == "*")


def _base(place: c_ast.Node) -> tuple[c_ast.Node | None, int]:
    """The name that a place begins with, and how many subscripts and dereferences follow; None
    where that is no name, or members stand between."""
    levels = 0
    while True:
        match place:
            case c_ast.ArrayRef(name=inner):
                levels += 1
            case c_ast.UnaryOp(op="*", expr=inner):
                levels += 1
            case c_ast.StructRef(name=inner, type=kind) if levels == 0:
                levels += kind == "->"
            case c_ast.Cast(expr=inner):
                pass
            case c_ast.BinaryOp(op="+" | "-", left=inner) if levels:
                pass
            case c_ast.ID():
                return place, levels
            case _:
                return None, levels
        place = inner
