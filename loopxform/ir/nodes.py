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

from collections.abc import Set
from dataclasses import field
from typing import Literal, TypeAlias

from loopxform.ir.permits import NOTHING, Permits
from loopxform.ir.records import Record
from loopxform.ir.sequential import Sequential
from loopxform.ir.types import INT, Level, Scalar, Space
from loopxform.records import slotted
from loopxform.source import NOWHERE, Origin


@slotted
class Node:
    origin: Origin = field(default=NOWHERE, compare=False, repr=False, kw_only=True)


# ---------------------------------------------------------------- expressions


@slotted
class Const(Node):
    """A literal; `text` is the user's spelling (`0.5f`), kept so that its C type survives."""

    value: int | float
    type: Scalar = INT
    text: str = field(default="", compare=False)


@slotted
class Tile(Node):
    """A tile size: prints by name (`Ty`), computes as its number. A threshold is one for which
    another number may stand when the program runs, so that nothing is proven by it."""

    name: str
    value: int
    is_threshold: bool = False


@slotted
class Var(Node):
    """A scalar: loop variable, parameter, global or local."""

    name: str


@slotted
class Load(Node):
    """An array element; also the target of an assignment. One index per dimension."""

    array: str
    index: tuple[Expr, ...]


@slotted
class Bin(Node):
    """A binary operator of C, or "min" / "max" (on integers in bounds)."""

    op: str
    left: Expr
    right: Expr


@slotted
class Un(Node):
    """One of - + ! ~."""

    op: str
    operand: Expr


@slotted
class Cast(Node):
    type: Scalar
    operand: Expr


@slotted
class Call(Node):
    """A call of a known pure function (`fmaxf`, `sqrt`), or of a routine of the user's file: then
    `type` is that of its value, and the arguments have the types of its parameters."""

    name: str
    args: tuple[Expr, ...]
    type: Scalar | None = None


@slotted
class Select(Node):
    """The conditional operator `cond ? then : orelse`."""

    cond: Expr
    then: Expr
    orelse: Expr


Expr: TypeAlias = Const | Tile | Var | Load | Bin | Un | Cast | Call | Select

# ---------------------------------------------------------------- statements


@slotted
class For(Node):
    """`for (var = lo; var < hi; var += step)`, or `var > hi` where the step is a negative constant.

    `parallel` is a proven fact ("forall"): no dependence is carried by this loop, storage declared
    inside its body counting as private to an iteration. `level` is where it runs on the device,
    `unroll` asks the emitter to unroll it. `type` is the C type of the loop variable, `live_out`
    says that the function reads the variable after the loop. In a loop over groups an int can
    number the elements of the arrays `narrow` (the step `index32`). With 2 `stages`, the tiles
    that the body begins by copying are fetched an iteration ahead (the step `pipeline`); with more,
    more of them ahead, which are `asynchronous` copies (the step `async`). What work-items copy
    from tiles is read ahead in a `preloaded` loop (the step `register-pipeline`). With `serpentine`
    rows, the loop and the one in it are walked in bands of so many iterations, there and back (the
    step of that name). The loop over the elements that a work-item of the loop over `dealt` has
    runs over those that the step `block-cyclic` gives it. With `stores`, so many iterations store
    their elements at once (the step `store-vectors`); it and the loop in it are a tile that is
    `turned` in registers (the step `turn-tile`). With `tensor`, the work-items of a warp
    compute products of tiles of that shape together (the step `tensorise`). `sets` are other
    variables of the text that its iterations set, in the words of the text; the loop tree does
    without them. `asks` is what C
    asks before an iteration, where `hi` says it only under `assumes` or `representable`: the loops
    of the user are written with it, and no step keeps it true. Iterations of a `chained` loop pass
    values on in the arrays that it names, behind the words of the first one, and depend on nothing
    else of each other (the step `chain-chunks`): the loop of one iteration in it with `look_back`
    finds these values (the step of that name), by way of arrays that it names: words, turn and
    nearest, and of each value what is passed on, what is seen of others, their factors ("": none),
    and how they are combined. Of arrays that are `filled`, an iteration stores to the elements from
    the value in the second array on that it takes over, up to that it passes on, each once: a
    number at most.
    """

    var: str
    lo: Expr
    hi: Expr
    step: Expr
    body: tuple[Stmt, ...]
    parallel: bool = False
    level: Level | None = None
    unroll: bool = False
    type: Scalar = INT
    live_out: bool = False
    narrow: tuple[str, ...] = ()
    stages: int = 1
    asynchronous: bool = False
    preloaded: bool = False
    serpentine: int = 0
    dealt: str = ""
    tensor: str = ""
    stores: int = 0
    turned: bool = False
    chained: tuple[str, ...] = ()
    filled: tuple[tuple[str, str, str], ...] = ()
    look_back: tuple[str, ...] = ()
    sets: tuple[str, ...] = field(default=(), compare=False)
    asks: Expr | None = field(default=None, compare=False, repr=False)


@slotted
class If(Node):
    """`if (cond) then else orelse`."""

    cond: Expr
    then: tuple[Stmt, ...]
    orelse: tuple[Stmt, ...] = ()


@slotted
class Assign(Node):
    """`target op= value`; `label` names the statement (`S0`) in dependences and messages. `atomic`
    ones change an element in one piece, and commute: their operator is one of + - * & | ^ min
    max, or they are stores of one value (the steps `atomic-updates`, `atomic-stores`)."""

    target: Var | Load
    value: Expr
    op: str = ""
    label: str = field(default="", compare=False)
    atomic: bool = False


@slotted
class Decl(Node):
    """Declares a scalar (shape ()) or an array for the rest of the enclosing body. `heap` marks an
    array that the C text allocates, `exposed` one that pointers may point to. One in global memory
    may be `like` an array of the caller's: it holds the same elements, where both have them, so
    that with rows of one length the one can stand for the other (step `pack`), unless its last two
    dimensions are `turned` (step `pack-operands`)."""

    name: str
    type: Scalar
    shape: tuple[Expr, ...] = ()
    space: Space | None = None
    heap: bool = False
    like: str = ""
    turned: bool = False
    exposed: bool = False


@slotted
class Slice(Node):
    """`lo : lo + size` of one dimension of the source; size None is the single index `lo`.

    `limit` is the extent the source must not be read beyond (exclusive), None where `lo + size`
    is proven inside it. Elements beyond the limit are never read: with `clamp` the last valid
    element is copied in their place, otherwise the `pad` of the copy, and they are left unset
    where it has none. In place of elements before `floor` (None where `lo` is proven not to lie
    there) the one at `floor` is copied. What is copied in place of others is never used, unless the
    slice `repeats` the elements at its ends, because the program does.
    """

    lo: Expr
    size: Expr | None
    limit: Expr | None = None
    clamp: bool = False
    floor: Expr | None = None
    repeats: bool = False

    @property
    def places(self) -> tuple[Expr, ...]:
        """What says which elements are copied."""
        return tuple(e for e in (self.lo, self.size, self.limit, self.floor) if e is not None)


@slotted
class Copy(Node):
    """`target = source[slices]`: collective (by all work-items of a group) into local memory, or
    by each work-item into private memory. The target has a dimension for each slice with a size.
    `pad` is the constant that stands for what lies beyond a limit. `width` neighbours of a row may
    be moved at once (step `vectorise`)."""

    target: str
    source: str
    slices: tuple[Slice, ...]
    collective: bool
    pad: Expr | None = None
    width: int = 1


@slotted
class Return(Node):
    value: Expr | None = None


LIBRARY_CALL = "the call to"
"""How the reason begins where a call of the C library is not modelled."""

INNER_RETURN = "a return that is not the last statement"
"""The reason where a return ends the function early."""

Escape: TypeAlias = Literal["", "break", "continue", "elsewhere"]
"""Whether a statement ends the loop around it, or its iteration, or control goes elsewhere from it
or comes to it from elsewhere."""


@slotted
class Opaque(Node):
    """A statement that is not modelled. `reason` says why, `help` what to write instead; `body`
    holds the statements inside it, so that the loops in there can still be judged. `loop` marks a
    `for` whose header is not modelled, `var` the variable it sets or changes; `text` is the C text
    (one line). It neither reads nor writes the scalars in `spares`, and does not write those in
    `keeps`; `sets` is the scalar that it gives a value nobody knows, if that is all it does.
    `moves` are two pointers where it does nothing but set the first to the second. `jump` says
    where control goes."""

    code: str
    reason: str
    help: str = ""
    body: tuple[Stmt, ...] = ()
    loop: bool = False
    text: str = ""
    var: str = ""
    spares: Set[str] = frozenset()
    keeps: Set[str] = frozenset()
    sets: str = ""
    moves: tuple[str, ...] = ()
    jump: Escape = ""

    @property
    def is_library_call(self) -> bool:
        """Whether it is a call of the C library, which keeps no threads apart."""
        return self.reason.startswith(LIBRARY_CALL)

    @property
    def is_return(self) -> bool:
        """Whether it ends the function."""
        return self.reason == INNER_RETURN

    @property
    def is_break(self) -> bool:
        """Whether it does nothing but leave the loop around it."""
        return self.jump == "break"


@slotted
class While(Opaque):
    """`while (cond) body`, or `do body while (cond)` if the body runs `once` before it is asked.
    Condition and body are all of it; dependences take it for opaque. `ir.whiles` says the same with
    a `For`."""

    cond: Expr = field(kw_only=True)
    once: bool = field(default=False, kw_only=True)


Stmt: TypeAlias = For | If | Assign | Decl | Copy | Return | Opaque

# ---------------------------------------------------------------- functions


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
    are taken to be apart, whatever their sizes; `computed` a number that need not have every value
    that its type allows. No pointer leads to a variable that is reached `by_name`. `kept` marks a
    variable that a function declares `static`: nothing outside of it can name it. `united` marks
    what lies in a union: pointers to other types may lead to it. The host finds a number out that
    has an array which it `ends`: no caller gives it.
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
    computed: bool = False
    by_name: bool = False
    kept: bool = False
    united: bool = False
    ends: str = ""

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
