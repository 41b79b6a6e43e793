"""A loop as a function of its own, for questions about it alone.

    for (k = 0; k < 2; k++) {               void f(int k, int n, struct cell *p)
      p = k ? &cells[n] : &cells[0];   ->   {
      for (i = 0; i < p->n; i++)              int i;
        p->x[i] = 0;                          for (i = 0; i < p->n; i++)
    }                                           p->x[i] = 0;
                                            }

A pointer that the loop leaves alone is a parameter there, whatever the rest of the function does to
it: one array, apart from others as far as the verdict says so. (Loop extraction, as in LLVM's
LoopExtractor.) What the function itself makes the same memory is refused: there the assumption that
two names are apart would be false. The function is only looked at, it is never run.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import combinations, product
from typing import Any, cast

from pycparser import c_ast

from loopxform.frontend.desugar import build
from loopxform.frontend.lower.refusal import NotModelled
from loopxform.frontend.names.ctype import simple
from loopxform.frontend.names.expression_types import ExpressionTypes
from loopxform.frontend.names.pointer_sources import PointerSources, Root
from loopxform.frontend.names.variables import changed
from loopxform.frontend.outline.earlier import earlier, left_by_calls
from loopxform.frontend.outline.guards import Guards
from loopxform.frontend.outline.kept_pointers import keeps_pointers
from loopxform.frontend.outline.kept_structs import is_kept, reads_pointer
from loopxform.frontend.outline.owner import Owner, settings
from loopxform.frontend.outline.removable import require_whole
from loopxform.frontend.syntax.tree import below, clone, every
from loopxform.ir.types import may_alias
from loopxform.records import record

_make = cast(Any, c_ast)
KNOWN = "lx_known"
"""A function that nobody knows, which has the addresses that others have."""


@record
class Extracted:
    """The function that holds a loop, and what the function around it computes: variables, and
    members of structs as `.n`."""

    node: c_ast.FuncDef
    computed: frozenset[str]

    def is_input(self, name: str) -> bool:
        """Whether a number of the function, `s.n` among others, is what the caller gave."""
        _, dot, member = name.rpartition(".")
        return dot + member not in self.computed and name not in self.computed


def extracted(name: str, owner: Owner, loop: c_ast.Node) -> Extracted:
    """Raises NotModelled where no function means the same."""
    require_whole([loop], owner.function.body)
    extraction = _Extraction(name, owner, loop)
    return Extracted(extraction.made(), frozenset(extraction.computed()))


class _Extraction:
    def __init__(self, name: str, owner: Owner, loop: c_ast.Node) -> None:
        self.name, self.owner, self.loop = name, owner, loop
        self.function, self.variables = owner.function, owner.variables
        self.types = ExpressionTypes(owner.variables, owner.file)
        self.inside = list(every(loop))
        self.used = self.variables.used([loop])
        within = set(map(id, self.inside))
        self.outside = [x for x in owner.effects if id(x) not in within]
        """What may set something elsewhere in the function."""
        self.guards = Guards(owner.function.body, loop, owner.variables)
        body = owner.function.body
        self.kept = {
            id(d)
            for d in self.used
            if is_kept(d, self.inside, body, self.types)
            and (self._is_live(d) or reads_pointer(d, self.inside, self.types))
        }
        """The structs that the loop only reads, where they are more than numbers of its own."""

    @cached_property
    def keeps_pointers(self) -> bool:
        """Whether the loop sets no pointer that it does not name."""
        return keeps_pointers(self.inside, self.owner, self.types)

    def made(self) -> c_ast.FuncDef:
        self._require_plain()
        self._require_apart()
        params, locals = list[c_ast.Decl](), list[c_ast.Decl]()
        for d in (*self._sizes(), *self.used):
            (params if self._is_given(d) else locals).append(_plain(d))
        asked = self.guards.used()
        params += (_plain(d) for d in asked if not any(d.name == p.name for p in params))
        known = [self._address(d) for d in self.used if self._escapes(d) and not self._is_given(d)]
        tables = (d for d in self.used if self._is_table(d) and not self._is_given(d))
        numbers = (*(d for d in self.used if self.variables.kind(d) == "number"), *tables)
        live = [d for d in numbers if self._is_live(d)]
        items = [
            *locals,
            *self._call(KNOWN, known),
            self.guards.around(_without_pragmas(clone(self.loop))),
            *self._returned(live),
        ]
        return self._definition(params, items)

    def computed(self) -> Iterator[str]:
        """What is not as the caller gave it: the variables of the function, and what it sets, or
        functions of the file that it calls do."""
        params = self.variables.params
        yield from (d.name for d in self.used if id(d) not in params)
        yield from (d.name for d in self.used if self.variables.escaping[id(d)])
        yield from settings(self.outside)
        yield from self.owner.set_by_calls
        yield from self.guards.doubtful()
        yield from (f".{name}" for name in self.owner.file.united)  # set under any of their names

    def _is_given(self, d: c_ast.Decl) -> bool:
        """Whether it is a parameter. An array that others may know is one, so that it is taken to
        be apart from their pointers only where the verdict says so; so is one of structs that is
        read after the loop, and never private for that reason."""
        kind = self.variables.kind(d)
        if id(d) in self.variables.params or kind in ("number", "pointer"):
            return kind != "number" or not self._escapes(d)
        if kind != "array":
            return id(d) in self.kept
        lost = self._is_live(d) and not self._is_table(d)
        return self._escapes(d) or self._holds_pointers(d) or lost

    def _is_table(self, d: c_ast.Decl) -> bool:
        """Whether it is an array of numbers."""
        array = self.variables.kind(d) == "array"
        return array and isinstance(self.variables.element(d.type), c_ast.IdentifierType)

    def _holds_pointers(self, d: c_ast.Decl) -> bool:
        t = self.variables.resolved(d)
        while isinstance(t, c_ast.ArrayDecl):
            t = self.variables.resolved(t.type)
        return isinstance(t, c_ast.PtrDecl)

    # ------------------------------------------------------------ what is refused

    def _require_plain(self) -> None:
        """Raises NotModelled for variables that are more than numbers, pointers, arrays, structs of
        each call, and for types that the function declares."""
        types = self.variables.types_inside
        nodes = (*self.inside, *(x for d in self.used for x in every(d.type)))
        words = (x.names if isinstance(x, c_ast.IdentifierType) else [_tag(x)] for x in nodes)
        if types & {w for several in words for w in several if w}:
            raise self._not("a type of the function")
        asked = (x.expr for x in self.inside if isinstance(x, c_ast.UnaryOp) and x.op == "sizeof")
        measured = {id(self.variables.meant.get(id(x))) for x in asked} - {*self.variables.params}
        for d in self.used:
            kind = self.variables.kind(d)
            if kind == "pointer" and self._is_kept(d):
                continue
            odd = {"volatile", "_Atomic"} & set(d.quals) or {"static", "extern"} & set(d.storage)
            lost = kind == "struct" and self._is_live(d) and id(d) not in self.kept
            passed = kind == "array" and id(d) in measured and self._is_given(d)  # as a pointer
            if odd or kind == "function" or lost or passed:
                raise self._not(f"'{d.name}' is not a plain variable")
            if self.variables.kind(d) == "pointer" and self._is_exposed(d):
                raise self._not(f"the address of '{d.name}' is taken")
        pointers = [d for d in self.used if self.variables.kind(d) == "pointer"]
        set_here = [d for d in pointers if id(d) not in self.variables.params or self._sets(d)]
        known = [d for d in self.used if self._escapes(d) and self.variables.kind(d) != "array"
                 and id(d) not in self.kept]  # fmt: skip
        for pointer, d in product(set_here, known):
            if self._may_lead_to(pointer, d):
                raise self._not(f"'{pointer.name}' may point to '{d.name}'")

    def _is_kept(self, pointer: c_ast.Decl) -> bool:
        """Whether the loop leaves a pointer alone that others may know."""
        odd = {"volatile", "_Atomic", "extern"} & {*pointer.quals, *pointer.storage}
        inside = set(map(id, self.inside))
        taken = any(id(x) in inside for x in self.variables.escaping[id(pointer)])
        set_here = any(id(x) in inside for x in self.variables.sets[id(pointer)])
        return not (odd or taken or set_here) and self.keeps_pointers

    def _may_lead_to(self, pointer: c_ast.Decl, known: c_ast.Decl) -> bool:
        """Whether the type of a pointer lets it lead to a variable (C11 6.5p7): that of one to
        structs lets it lead to no number."""
        if not self.owner.strict or self.variables.kind(known) != "number":
            return True
        target = self.variables.element(pointer.type)
        if isinstance(target, c_ast.Struct):
            return False
        here, there = (
            simple(list(x.names)).base if isinstance(x, c_ast.IdentifierType) else None
            for x in (target, self.variables.resolved(known))
        )
        return here is None or there is None or may_alias(here, there)

    def _sets(self, d: c_ast.Decl) -> bool:
        return bool(self.variables.sets[id(d)])

    def _is_exposed(self, pointer: c_ast.Decl) -> bool:
        """Whether the address of a pointer is taken, not one that it leads to."""
        taken = self.variables.escaping[id(pointer)]
        return any(isinstance(x, c_ast.UnaryOp) and isinstance(x.expr, c_ast.ID) for x in taken)

    def _require_apart(self) -> None:
        """Raises NotModelled where the function has two names of the loop lead into one array, and
        the loop writes there, also by another name that it sets itself."""
        o = self.owner
        nodes = earlier(self.outside, o, self.loop)
        sources = PointerSources(nodes, o.variables, o.file, o.linking, left_by_calls(o))
        names = dict(self._bases(sources))
        within = PointerSources(self.inside, o.variables, o.file, o.linking)
        stores = set(self._written(sources))
        written = {a for a in names if any(within.same(a, b) for b in stores)}
        for a, b in combinations(names, 2):
            if (a in written or b in written) and sources.same(a, b):
                raise self._not(f"'{names[a]}' may be '{names[b]}'")

    def _bases(self, sources: PointerSources) -> Iterator[tuple[Root, str]]:
        """The pointers and arrays that the loop uses, what it reads pointers from, and the numbers
        that pointers may lead to."""
        for x in self.inside:
            if isinstance(x, c_ast.ID | c_ast.StructRef | c_ast.ArrayRef | c_ast.UnaryOp):
                yield from ((root, _name(x)) for root in sources.roots(x))
            if isinstance(x, c_ast.ID | c_ast.StructRef) and self.types.is_number(x):
                yield from ((root, _name(x)) for root in sources.address(x))

    def _written(self, sources: PointerSources) -> Iterator[Root]:
        """Those through which the loop writes, or that it hands to others."""
        for x in self.inside:
            target = changed(x)
            if target is not None and self.types.is_number(target):
                yield from sources.address(target)
            if target is not None and not isinstance(target, c_ast.ID):
                yield from _through(target, sources)
            if isinstance(x, c_ast.FuncCall):
                for arg in x.args.exprs if x.args is not None else ():
                    yield from sources.roots(arg)
                    yield from _through(arg, sources)

    # ------------------------------------------------------------ what stands around

    def _sizes(self) -> Iterator[c_ast.Decl]:
        """The variables in the sizes of arrays that the loop does not mention itself. Raises
        NotModelled for one that is set again."""
        v, known = self.variables, set(map(id, self.used))
        for d in self.used:
            for x in every(d.type):
                size = v.meant.get(id(x))
                if size is None or not isinstance(x, c_ast.ID):
                    continue
                later = any(v.order[id(s)] > v.order[id(d)] for s in v.sets[id(size)])
                if later or v.escaping[id(size)]:
                    raise self._not(f"'{x.name}', in the size of '{d.name}', is modified")
                if id(size) not in known:
                    known.add(id(size))
                    yield size

    def _escapes(self, d: c_ast.Decl) -> bool:
        """Whether others may know the address of what belongs to the function when the loop
        runs."""
        kind = self.variables.kind(d)
        if kind == "pointer" or (kind == "array" and id(d) in self.variables.params):
            return False
        return any(map(self._is_before, self._taken(d)))

    def _taken(self, d: c_ast.Decl) -> Iterator[c_ast.Node]:
        """Where the address of a variable is taken; that of an array is its name, and that of one
        in a struct may be had from any expression which is no number."""
        yield from (x for x in self.variables.escaping[id(d)] if id(x) not in self.owner.lent)
        if self.variables.kind(d) not in ("array", "struct"):
            return
        for x in every(self.function.body):
            values: list[c_ast.Node | None] = []
            match x:
                case c_ast.FuncCall(args=c_ast.ExprList(exprs=args)):
                    values = args
                case c_ast.Assignment(rvalue=value) | c_ast.Decl(init=value):
                    values = [value]
            if any(self._hands_out(v, d) for v in values):
                yield x

    def _hands_out(self, value: c_ast.Node | None, d: c_ast.Decl) -> bool:
        """Whether a value may hold an address in an array or a struct: it names the variable, but
        for numbers in there."""
        waiting = [] if value is None else [value]
        while waiting:
            x = waiting.pop()
            if self.variables.meant.get(id(x)) is d:
                return True
            place = isinstance(x, c_ast.ArrayRef | c_ast.StructRef | c_ast.UnaryOp)
            if not (place and self.types.is_number(x)):
                waiting += below(x)
        return False

    def _is_before(self, x: c_ast.Node) -> bool:
        """Whether a node of the function may run before the loop does, or in it."""
        return self.variables.order[id(x)] <= self.owner.last_before[id(self.loop)]

    def _is_live(self, d: c_ast.Decl) -> bool:
        """Whether the loop may set what is read after it."""
        within = set(map(id, self.inside))
        number = self.variables.kind(d) == "number"
        if number and not any(id(x) in within for x in self.variables.sets[id(d)]):
            return False
        given = id(d) in self.variables.params and not number
        if given or self.variables.kind(d) == "pointer":
            return False
        return self.variables.live_after([self.loop], d)

    def _address(self, d: c_ast.Decl) -> c_ast.Node:
        name = build.name(d.name, self.loop)
        if self.variables.kind(d) == "array":
            return name
        return cast(c_ast.Node, _make.UnaryOp("&", name, coord=self.loop.coord))

    # ------------------------------------------------------------ nodes

    def _call(self, name: str, args: list[c_ast.Node]) -> list[c_ast.Node]:
        if not args:
            return []
        given = _make.ExprList(args, coord=self.loop.coord)
        called = build.name(name, self.loop)
        return [cast(c_ast.Node, _make.FuncCall(called, given, coord=self.loop.coord))]

    def _returned(self, live: list[c_ast.Decl]) -> list[c_ast.Node]:
        """Reads what is read after the loop."""
        if not live:
            return []
        value = self._number_of(live[0])
        for d in live[1:]:
            value = build.binary("+", value, self._number_of(d))
        return [build.returned(value, self.loop)]

    def _number_of(self, d: c_ast.Decl) -> c_ast.Node:
        """A number, or one of those in an array."""
        value: c_ast.Node = build.name(d.name, self.loop)
        if self._is_table(d):
            for _ in self.variables.levels(d.type):
                zero = build.number(0, self.loop)
                value = cast(c_ast.Node, _make.ArrayRef(value, zero, coord=self.loop.coord))
        return value

    def _definition(self, params: list[c_ast.Decl], items: Iterable[c_ast.Node]) -> c_ast.FuncDef:
        at = self.loop.coord
        given = _make.ParamList(params, coord=at) if params else None
        number = _make.IdentifierType(["double"], coord=at)
        returned = _make.TypeDecl(self.name, [], None, number, coord=at)
        t = _make.FuncDecl(given, returned, coord=at)
        decl = _make.Decl(self.name, [], [], [], [], t, None, None, coord=at)
        body = build.block(items, self.loop)
        return cast(c_ast.FuncDef, _make.FuncDef(decl, None, body, coord=at))

    def _not(self, reason: str) -> NotModelled:
        return NotModelled("LX014", reason, "", self.loop)


def _plain(d: c_ast.Decl) -> c_ast.Decl:
    """The declaration alone."""
    out = build.without_value(d)
    out.type = clone(d.type)
    out.storage, out.funcspec, out.bitsize = [], [], None
    return out


def _name(x: c_ast.Node) -> str:
    """The variable that a place is reached by."""
    while isinstance(x, c_ast.StructRef | c_ast.ArrayRef):
        x = x.name
    return str(x.name) if isinstance(x, c_ast.ID) else "?"


def _tag(x: c_ast.Node) -> str | None:
    name = getattr(x, "name", None)
    return name if isinstance(name, str) else None


def _through(place: c_ast.Node, sources: PointerSources) -> Iterator[Root]:
    """What a place in memory is reached from, step by step."""
    inner: list[c_ast.Node] = []
    match place:
        case c_ast.ArrayRef() | c_ast.StructRef():
            inner = [place.name]
        case c_ast.UnaryOp(op="*" | "&") | c_ast.Cast():
            inner = [place.expr]
        case c_ast.BinaryOp():
            inner = [place.left, place.right]
    for x in inner:
        yield from sources.roots(x)
        yield from _through(x, sources)


def _without_pragmas(node: c_ast.Node) -> c_ast.Node:
    for x in every(node):
        if isinstance(x, c_ast.Compound):
            x.block_items = [s for s in x.block_items or () if not isinstance(s, c_ast.Pragma)]
    return node
