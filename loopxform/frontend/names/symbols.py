"""What a name stands for, and every place of a function that touches it.

Places are numbered in text order, so that "modified in the body" or "read after the loop" are
questions about numbers and spans.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field
from typing import Literal

from pycparser import c_ast

from loopxform.frontend.names.aliasing import Aliasing, Member
from loopxform.frontend.names.ctype import Array, CType, Pointer
from loopxform.ir.nodes import Const, Expr
from loopxform.ir.types import INT
from loopxform.records import record


@dataclass(eq=False)
class Unit:
    """A block, a branch or a loop body: what is in it runs in text order, jumps aside."""

    end: int = 0


@record
class Setting:
    """An assignment to a pointer: its place, the value (None for `p++` and the like), the unit."""

    place: int
    value: c_ast.Node | None
    unit: Unit


@record
class Store:
    """What is stored other than to a variable by its name: the type of the lvalue (None where it
    may be any), the object of the function or the file that it lies in (None where a pointer leads
    there), and the name that the lvalue starts from, `through` where it is the one pointer."""

    type: CType | None
    within: Symbol | None
    base: Symbol | None
    through: bool


Kind = Literal["param", "local", "loop", "global", "enum", "function", "type"]


@dataclass(eq=False)
class Symbol:
    """A declared name; `ir` is its name in the loop tree, unique in the function, `spelling` what
    the text calls it where that is not its name.

    `reads`, `writes` (of the object itself), `stores` (into an element) and `escapes` (its address
    is taken, or an array is handed to a function) are places; an initialiser counts as a write.
    `shape` is filled in for globals, whose sizes are constants. `target` is the place in an array
    that a local pointer is another name for (see `bindings`), `owner` the structs of a member
    and `member_type` the type it is declared with. `loose` marks local pointers that are arrays of
    their own wherever they stand still, `astray` others that the function may have set to what has
    another name (see `swapped_buffers`), `unsized` arrays whose size is not read, `behind_pointer`
    numbers in the one struct that a pointer points to (see `struct_pointers`). A number that says
    whether a pointer points somewhere `tests` it. Nothing but its name leads to a variable that is
    reached `by_name`.
    """

    name: str
    type: CType
    kind: Kind
    decl: c_ast.Node | None = None
    storage: tuple[str, ...] = ()
    value: Const | None = None
    shape: tuple[Expr | None, ...] = ()
    ir: str = ""
    spelling: str = ""
    at: int = 0
    span: Span | None = None
    target: c_ast.Node | None = None
    owner: Symbol | None = None
    member_type: CType | None = None
    loose: bool = False
    astray: bool = False
    behind_pointer: bool = False
    tests: Symbol | None = None
    by_name: bool = False
    unsized: bool = False
    rows: bool = False
    reads: list[int] = field(default_factory=list)
    writes: list[int] = field(default_factory=list)
    stores: list[int] = field(default_factory=list)
    escapes: list[int] = field(default_factory=list)

    @property
    def of_thread(self) -> bool:
        """Whether each thread has one of its own."""
        return "_Thread_local" in self.storage

    @property
    def field(self) -> Member | None:
        """The type of struct and the member of it that a member is."""
        if self.owner is None:
            return None
        return self.owner.type.record, self.name.rpartition(".")[2]

    @property
    def of_structs(self) -> bool:
        """Whether its rows are those that a pointer in each of several structs leads to."""
        pointers = self.member_type.derived if self.member_type is not None else ()
        return self.rows and 0 < len(pointers) < len(self.type.derived)

    @property
    def is_variable(self) -> bool:
        return self.kind in ("param", "local", "loop", "global")

    @property
    def is_pointer(self) -> bool:
        """Whether it may point to memory that has another name too."""
        first = self.type.derived[:1]
        return bool(first) and (isinstance(first[0], Pointer) or self.kind == "param")

    @property
    def is_modelled_array(self) -> bool:
        """A block of scalars that a Load can address."""
        if not self.type.is_array:
            return self.rows
        return self.kind in ("param", "global") or isinstance(self.type.derived[0], Array)


def enumerator(node: c_ast.Enumerator, value: int | None) -> Symbol:
    """A constant of an enumeration; without a value where that is not known, or is no int."""
    out = Symbol(node.name, CType(INT, "int"), "enum", node)
    fits = value is not None and -(1 << 31) <= value < 1 << 31
    out.value = Const(value) if fits and value is not None else None
    return out


def enumerated(node: c_ast.Enumerator, before: int | None) -> int | None:
    """The value of a constant behind one of another value, where it is counted from plain
    numbers."""
    match node.value:
        case None:
            return None if before is None else before + 1
        case c_ast.Constant(type="int", value=text) if text.isdigit():
            return int(text) if text == "0" or text[0] != "0" else None
        case _:
            return None


@record
class Span:
    """The places of a loop: before `header` the start value, from there what is repeated."""

    start: int
    header: int
    end: int
    node: c_ast.Node

    def repeats(self, place: int) -> bool:
        return self.header <= place < self.end

    def repeated(self, places: list[int]) -> int:
        """How many of the places (in text order) are in what is repeated."""
        return bisect_left(places, self.end) - bisect_left(places, self.header)


@dataclass
class Table:
    """The names of one function: `uses` maps the id of an ID or Decl node to its symbol."""

    uses: dict[int, Symbol] = field(default_factory=dict)
    symbols: list[Symbol] = field(default_factory=list)
    spans: dict[int, Span] = field(default_factory=dict)
    calls: list[int] = field(default_factory=list)
    stores: dict[int, Store] = field(default_factory=dict)
    """What is stored other than to a variable by its name, by the place."""
    aliasing: Aliasing = field(default_factory=Aliasing)
    lent: set[int] = field(default_factory=set)
    """The places where an address is taken for a call that keeps none."""
    pragmas: dict[int, dict[str, Symbol]] = field(default_factory=dict)
    """What the names in a pragma stand for where it stands, by the id of its node."""
    settings: dict[Symbol, list[Setting]] = field(default_factory=dict)
    """Every assignment to a pointer, its initialiser included."""
    members: dict[tuple[Symbol, str], Symbol] = field(default_factory=dict)
    """What stands for the members of structs."""
    copies: dict[int, list[c_ast.Assignment]] = field(default_factory=dict)
    """The assignments of members that a copy of a struct stands for, by the id of its node."""
    tests: dict[int, Symbol] = field(default_factory=dict)
    """The pointers that are compared with NULL, or whose truth is asked, by the id of the node."""
    given: dict[Symbol, Symbol] = field(default_factory=dict)
    """The numbers that say whether pointers point somewhere (see `null_checks`)."""
    exposed: set[Symbol] = field(default_factory=set)
    """Pointers whose own address is taken."""
    copies_pointers: bool = False
    """A struct with pointers in it is assigned, other than to a local."""
    rows_apart: bool = False
    """Whether the rows that pointers to pointers lead to are taken to be apart."""
    indexed: frozenset[str] = frozenset()
    """The names that subscripts follow, where a pointer in each of several structs may lead to a
    row."""
    jumps: bool = False
    """A goto or a switch occurs: text order is not the order of execution."""

    def modifies(self, place: int, t: CType) -> bool:
        """Whether what is stored at a place may be in an object of type `t`."""
        store = self.stores.get(place)
        return store is None or self.aliasing.may_modify(store.type, t)

    def is_known_elsewhere(self, s: Symbol) -> bool:
        """Whether somebody may keep the address of an object."""
        return not self.lent.issuperset(s.escapes)

    def of(self, node: c_ast.Node) -> Symbol | None:
        return self.uses.get(id(node))

    def leads_to_rows(self, owner: Symbol) -> bool:
        """Whether pointers in structs lead to rows, one in each of several."""
        while owner.owner is not None and owner.member_type and not owner.member_type.derived:
            owner = owner.owner
        return owner.name.rpartition(".")[2] in self.indexed

    def test(self, node: c_ast.Node) -> Symbol | None:
        """The number that a test of a pointer asks for."""
        pointer = self.named(self.tests.get(id(node)))
        return None if pointer is None else self.given.get(pointer)

    def named(self, pointer: Symbol | None) -> Symbol | None:
        """The pointer that a local one is another name for."""
        while pointer is not None and isinstance(pointer.target, c_ast.ID):
            pointer = self.of(pointer.target)
        return pointer

    def span(self, loop: c_ast.Node) -> Span:
        return self.spans[id(loop)]

    def outermost(self, loop: c_ast.Node) -> Span:
        """The outermost loop of any kind around `loop` (itself where there is none)."""
        inner = self.span(loop)
        around = [s for s in self.spans.values() if s.start <= inner.start and inner.end <= s.end]
        return min(around, key=lambda s: s.start)

    def name_symbols(self) -> None:
        """Gives every variable a name of its own; sibling loops may share one."""
        taken: dict[str, list[Symbol]] = {}
        free: dict[str, int] = {}  # below these numbers a name is taken, loops that share aside
        fixed = [s for s in self.symbols if s.kind in ("param", "global")]
        # Their names in C are those; variables that a function keeps have none outside of it.
        fixed.sort(key=lambda s: s.kind == "global" and getattr(s.decl, "name", s.name) != s.name)
        others = (s for s in self.symbols if s.is_variable and s.kind not in ("param", "global"))
        for s in (*fixed, *others):
            alone = s.kind != "loop"
            n = free.get(s.name, 1) if alone else 1
            name = s.name if n == 1 else f"{s.name}_{n}"
            while not all(_may_share(s, other) for other in taken.get(name, ())):
                n += 1
                name = f"{s.name}_{n}"
            if alone:
                free[s.name] = n
            s.ir = name
            taken.setdefault(name, []).append(s)


def _may_share(a: Symbol, b: Symbol) -> bool:
    """Two loops may use one name where neither is inside the other."""
    if a.kind != "loop" or b.kind != "loop" or a.type.base != b.type.base:
        return False
    if a.span is None or b.span is None:
        return False
    return a.span.end <= b.span.start or b.span.end <= a.span.start


def outside(places: list[int], spans: list[Span]) -> list[int]:
    """The places (in text order) that none of the loops repeats."""
    out: list[int] = []
    waiting = sorted(spans, key=lambda s: s.header)
    n, end = 0, 0
    for place in places:
        while n < len(waiting) and waiting[n].header <= place:
            end = max(end, waiting[n].end)
            n += 1
        if place >= end:
            out.append(place)
    return out
