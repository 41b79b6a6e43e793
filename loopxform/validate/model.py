"""What the validator knows of a program, the user's C and written kernels alike: statements with
their instances, what they read and write, and when they run.

Nothing here comes from the steps, the recipes or the code generator: both programs are read from
their text (`reader`), and compared by what they compute (`equality`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import islpy as isl

from loopxform.validate.ctypes import CType
from loopxform.validate.polynomials import Plain, Polynomial


@dataclass(frozen=True, eq=False)
class Number:
    """A number of the text, in the type in which it is used."""

    value: float
    type: CType


@dataclass(frozen=True, eq=False)
class Scalar:
    """A parameter that is no whole number."""

    name: str
    type: CType


@dataclass(frozen=True, eq=False)
class Whole:
    """A whole number that follows from iterations and parameters."""

    value: Polynomial
    type: CType


@dataclass(frozen=True, eq=False)
class Read:
    """An element of an array or a variable. `cells` leads from instances of the statement to it."""

    array: str
    cells: isl.Map
    type: CType
    line: int


@dataclass(frozen=True, eq=False)
class Gather:
    """An element of an array at a place that data decide; nothing stores to the array. `site`
    numbers the places of the text that read so."""

    array: str
    index: Expr
    type: CType
    line: int
    site: int


@dataclass(frozen=True, eq=False)
class Operation:
    """An operation of C or a function of its library."""

    name: str
    operands: tuple[Expr, ...]
    type: CType


@dataclass(frozen=True, eq=False)
class Cases:
    """Which expression it is follows from the instance; the sets are apart and cover the domain."""

    pieces: tuple[tuple[isl.Set, Expr], ...]
    type: CType

    @property
    def covered(self) -> isl.Set:
        """The instances for which it is known."""
        (known, _), *others = self.pieces
        for where, _ in others:
            known = known.union(where)
        return known


@dataclass(frozen=True, eq=False)
class Undefined:
    """What a variable holds that was declared and not stored to since."""

    type: CType


@dataclass(frozen=True, eq=False)
class Symbol:
    """A variable of a loop that data end, as an iteration finds it."""

    name: str
    type: CType


@dataclass(frozen=True, eq=False)
class Fold:
    """What the first of these variables holds behind a loop that data end: they begin with
    `begins`, `condition` says whether there is an iteration, and behind it they hold `ends` and
    `stopped` says that it was the last."""

    names: tuple[str, ...]
    begins: tuple[Expr, ...]
    condition: Expr
    stopped: Expr
    ends: tuple[Expr, ...]
    type: CType


Expr = Number | Scalar | Whole | Read | Gather | Operation | Cases | Undefined | Symbol | Fold


def operands_of(e: Expr) -> tuple[Expr, ...]:
    """What an expression is made of, one level down."""
    match e:
        case Operation():
            return e.operands
        case Gather():
            return (e.index,)
        case Cases():
            return tuple(x for _, x in e.pieces)
        case Fold():
            return (*e.begins, e.condition, e.stopped, *e.ends)
    return ()


def nodes(e: Expr) -> Iterator[Expr]:
    """An expression and all that it is made of."""
    stack = [e]
    while stack:
        x = stack.pop()
        yield x
        stack.extend(operands_of(x))


@dataclass(frozen=True)
class Position:
    """The place in a sequence of statements, or an iterator of a loop around them."""

    place: int = 0
    iterator: int | None = None
    """The dimension of the domain."""
    backwards: bool = False


@dataclass(eq=False)
class Statement:
    """Stores `value` in a cell of `array`, once for each instance in `domain`.

    `launch`, `phase` and `order` are when it runs, outermost first: which launch of the host, which
    part of the kernel between barriers, and the rest. `groups` and `items` are the dimensions of
    the domain that number the work-groups and the work-items.
    """

    name: str
    domain: isl.Set
    array: str
    cells: isl.Map
    value: Expr
    line: int
    launch: tuple[Position, ...] = ()
    phase: tuple[Position, ...] = ()
    order: tuple[Position, ...] = ()
    groups: tuple[int, ...] = ()
    items: tuple[int, ...] = ()

    def reads(self) -> Iterator[Read]:
        return (x for x in nodes(self.value) if isinstance(x, Read))


@dataclass(eq=False)
class Barrier:
    """A barrier: its instances, one a group and an iteration of the loops around it."""

    domain: isl.Set
    launch: tuple[Position, ...]
    phase: tuple[Position, ...]
    groups: tuple[int, ...]
    line: int
    fences: frozenset[str] = frozenset()
    """Which memory it orders: local, global."""


@dataclass
class Array:
    """Cells of one type. Kinds: `global` (of the caller), `scratch` (made by the host), `local`,
    `private`. `extents`: numbers of parameters alone, outermost first; None: not known."""

    name: str
    kind: str
    type: CType
    extents: tuple[Plain | None, ...] = ()
    line: int = 0
    limit: isl.PwAff | None = None
    """Below which the outermost subscript stays, where it is no extent of a declaration."""


@dataclass
class Program:
    """Statements in the order of the text, the barriers between them, and the arrays by name."""

    space: isl.Space
    statements: list[Statement] = field(default_factory=list)
    barriers: list[Barrier] = field(default_factory=list)
    arrays: dict[str, Array] = field(default_factory=dict)
    quotients: isl.Set = field(init=False)
    """What the parameters that stand for quotients are."""
    meaningless: isl.Set = field(init=False)
    """Sizes for which C leaves open what the program does."""
    wrapping: isl.Set = field(init=False)
    """Sizes for which unsigned numbers of the program may wrap around."""

    def __post_init__(self) -> None:
        self.quotients = isl.Set.universe(self.space.params())
        self.meaningless = isl.Set.empty(self.space.params())
        self.wrapping = isl.Set.empty(self.space.params())

    def closed(self) -> Program:
        """The same, where each statement knows what the quotients are that its domain speaks of."""
        for s in self.statements:
            s.domain = s.domain.intersect_params(self.quotients)
            s.cells = s.cells.intersect_params(self.quotients)
        for b in self.barriers:
            b.domain = b.domain.intersect_params(self.quotients)
        return self
