"""The loop tree: one frozen dataclass per production of the grammar below.

    unit     ::= function*
    function ::= name param* body
    body     ::= stmt*
    stmt     ::= For(var, lo, hi, step, body, parallel, level)      hi is exclusive
               | If(cond, then, orelse)
               | Assign(target, op, value, atomic)  op "" is =, "+" is +=, ...
               | Decl(name, type, shape, space)     shape () is a scalar
               | Copy(target, source, slices)       a slice of an array into faster memory
               | Return(value)                      only as the last statement of a function
               | Opaque(reason, body)               C that is seen but not modelled
               | While(reason, body, cond, once)    a loop that may end at any time
    target   ::= Var | Load
    expr     ::= Const | Tile | Var | Load | Bin | Un | Cast | Call | Select

Nodes compare by meaning: `origin` takes no part in equality. Loop variables may repeat in sibling
nests (distribution copies a loop over several statements); a loop is then addressed by text order,
see `visit.resolve`.
"""

from __future__ import annotations

from dataclasses import field
from typing import Literal, TypeAlias

from loopxform.ir.expressions import Bin, Call, Cast, Const, Expr, Load, Node, Select, Tile, Un, Var
from loopxform.ir.permits import NOTHING, Permits
from loopxform.ir.records import Record
from loopxform.ir.sequential import Sequential
from loopxform.ir.statements import (
    INNER_RETURN,
    LIBRARY_CALL,
    Assign,
    Copy,
    Decl,
    Escape,
    For,
    If,
    Opaque,
    Return,
    Slice,
    Stmt,
    While,
)
from loopxform.ir.types import Scalar
from loopxform.records import slotted

__all__ = [
    "INNER_RETURN",
    "LIBRARY_CALL",
    "Assign",
    "Bin",
    "Call",
    "Cast",
    "Const",
    "Copy",
    "Decl",
    "Escape",
    "Expr",
    "For",
    "Function",
    "If",
    "Jump",
    "Line",
    "Load",
    "Loop",
    "Node",
    "Opaque",
    "Param",
    "Return",
    "Routine",
    "Select",
    "Slice",
    "Stmt",
    "Struct",
    "Test",
    "Tile",
    "Un",
    "Unit",
    "Var",
    "While",
]


@slotted
class Param(Node):
    """A parameter, or a global the function uses.

    `shape` is () for a scalar. The first dimension of an array parameter is None where C does not
    state it (`float *a`, `float a[][N]`); inner dimensions are always known. `flat` marks a plain
    pointer or 1-D array whose shape was recovered from subscripts such as `A[i*n + k]`. `pointer`
    marks a global that is a pointer to elements, not the elements, and a number that is behind a
    pointer (`s->n`). `p.x` is the member `x` of the structs that `p` names; `part_of` is then `p`
    (but empty where the member is a pointer). `local` marks a pointer of the function itself, which
    is one array wherever nothing sets it. `values` are the elements of a constant of the file in
    storage order, where its text says them. `p.given` `tests` the pointer `p`: it is 1 where that
    points somewhere, else 0. `rows` marks one that leads to its elements by pointers to rows, which
    are taken to be apart, whatever their sizes, `of_structs` one whose pointers are members of the
    structs of an array; `computed` a number that need not have every value
    that its type allows. No pointer leads to a variable that is reached `by_name`. `kept` marks a
    variable that a function declares `static`: nothing outside of it can name it. `united` marks
    what lies in a union: pointers to other types may lead to it. The host finds a number out that
    has an array which it `ends`: no caller gives it. The elements of an array of the device may be
    those `at` some subscripts of another one, `of` (`Decl.at`). Where subscripts tell that a
    dimension is several (`y[i*w + j][k]` of `y[h*w][9]`), `declared` is the shape in C.
    """

    name: str
    type: Scalar
    shape: tuple[Expr | None, ...] = ()
    const: bool = False
    restrict: bool = False
    static: bool = False
    flat: bool = False
    is_global: bool = False
    pointer: bool = False
    array: bool = False
    part_of: str = ""
    local: bool = False
    values: tuple[Expr, ...] = ()
    tests: str = ""
    rows: bool = False
    of_structs: bool = False
    computed: bool = False
    by_name: bool = False
    kept: bool = False
    united: bool = False
    ends: str = ""
    of: str = ""
    at: tuple[Expr, ...] = ()
    declared: tuple[Expr | None, ...] = ()

    @property
    def is_member(self) -> bool:
        """Whether this is not an object of its own in C."""
        return "." in self.name


@slotted
class Struct(Node):
    """A parameter, a global or a pointer inside one (`s.b`) whose elements are structs: `p.x` is an
    object of the function, and lies in it. `shape` is () where it is one struct; `type` its layout.
    """

    name: str
    type: Record
    shape: tuple[Expr | None, ...] = ()
    const: bool = False
    restrict: bool = False
    static: bool = False
    flat: bool = False
    is_global: bool = False
    pointer: bool = False

    @property
    def array(self) -> bool:
        return bool(self.shape)


# ---------------------------------------------------------------- functions of numbers


@slotted
class Test(Node):
    """`if (cond) then else orelse`."""

    cond: Expr
    then: tuple[Line, ...]
    orelse: tuple[Line, ...] = ()


@slotted
class Loop(Node):
    """`for (; cond; after) body`, or with `at_end` `do body while (cond)`. No `cond` is always."""

    cond: Expr | None
    body: tuple[Line, ...]
    after: tuple[Assign, ...] = ()
    at_end: bool = False


@slotted
class Jump(Node):
    word: Literal["break", "continue"]


Line: TypeAlias = Decl | Assign | Return | Test | Loop | Jump


@slotted
class Routine(Node):
    """`calls` are the other routines that it calls, which come first. No two of its names are the
    same. `unwritten` says why nothing written can define it: its body is not known."""

    name: str
    params: tuple[Param, ...]
    returns: Scalar
    body: tuple[Line, ...]
    calls: tuple[Routine, ...] = ()
    unwritten: str = ""


@slotted
class Function(Node):
    """One C function. `structs` are those of its objects whose layout is known, `routines` the
    functions of the file that it calls, `tiles` the tile sizes steps may name; `globals` the
    file-scope objects it uses; `signature` the user's spelling of the prototype, types expanded;
    `spelling` what the text calls a variable whose name here is another; `assumes` conditions on
    scalar parameters under which the model of the function holds (a recovered shape, say): the
    analysis relies on them, the host code checks them at run time; `representable` those under
    which the numbers next to bounds exist in their types: only written code relies on them;
    `permits` what the source says of floating point; `sequential` the loops of the text whose
    iterations are in order, whatever else is known of them; `strict_aliasing` that types tell
    objects apart; `scratch` are arrays of the caller's that nobody reads after a call: what they
    hold then is not specified; `start` is the program that steps began with, as its loops are read:
    what that touches is all that kernels are given. `as_written` is the user's program, where this
    is one that does the same only under what the analysis takes for granted: it runs where that
    fails."""

    name: str
    params: tuple[Param, ...]
    body: tuple[Stmt, ...]
    globals: tuple[Param, ...] = ()
    returns: Scalar | None = None
    tiles: tuple[tuple[str, int], ...] = ()
    assumes: tuple[Expr, ...] = ()
    representable: tuple[Expr, ...] = ()
    structs: tuple[Struct, ...] = ()
    routines: tuple[Routine, ...] = ()
    signature: str = field(default="", compare=False)
    spelling: tuple[tuple[str, str], ...] = field(default=(), compare=False)
    permits: Permits = field(default=NOTHING, compare=False)
    sequential: tuple[Sequential, ...] = field(default=(), compare=False)
    strict_aliasing: bool = field(default=True, compare=False)
    scratch: tuple[str, ...] = ()
    start: Function | None = field(default=None, compare=False, repr=False)
    as_written: Function | None = field(default=None, compare=False, repr=False)

    @property
    def objects(self) -> tuple[Param, ...]:
        """Parameters and globals together."""
        return (*self.params, *self.globals)


@slotted
class Unit(Node):
    """A translation unit: the functions defined in the user's own file, in order."""

    file: str
    functions: tuple[Function, ...]
