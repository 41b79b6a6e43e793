"""Nodes of the loop tree that do something; `nodes` has the grammar."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import field
from typing import Literal, TypeAlias

from loopxform.ir.expressions import Expr, Load, Node, Var
from loopxform.ir.types import INT, Level, Scalar, Space
from loopxform.records import slotted


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
    from tiles is read so many iterations ahead in a `preloaded` loop (the step
    `register-pipeline`), and tiles are stored and fetched between the iterations of an
    `interleaved` one. With `serpentine`
    rows, the loop and the one in it are walked in bands of so many iterations, there and back (the
    step of that name). The loop over the elements that a work-item of the loop over `dealt` has
    runs over those that the step `block-cyclic` gives it. With `stores`, so many iterations store
    their elements at once (the step `store-vectors`); it and the loop in it are a tile that is
    `turned` in registers (the step `turn-tile`), and whose rows caches fetch so many bytes `ahead`.
    With `simd`, so many iterations are a vector for the compiler (the step of that name). A loop
    that is `speculated` runs without the rare cases of quotients, and again where one came up (the
    step `speculate`). With `tensor`, the work-items of a warp compute products of tiles of that
    shape together (the step `tensorise`). `sets` are other
    variables of the text that its iterations set, in the words of the text; the loop tree does
    without them. `asks` is what C asks before an iteration, where `hi` says it only under `assumes`
    or `representable`: the loops of the user are written with it, and no step keeps it true.
    Iterations of a `chained` loop pass values on in the arrays that it names, behind the words of
    the first one, and depend on nothing else of each other (the step `chain-chunks`): the loop of
    one iteration in it with `look_back` finds these values (the step of that name), by way of
    arrays that it names: words, turn and nearest, and of each value what is passed on, what is seen
    of others, their factors ("": none), and how they are combined. Of arrays that are `filled`, an
    iteration stores to the elements from the value in the second array on that it takes over, up to
    that it passes on, each once: a number at most.
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
    preloaded: int = 0
    interleaved: bool = False
    serpentine: int = 0
    dealt: str = ""
    tensor: str = ""
    stores: int = 0
    turned: bool = False
    ahead: int = 0
    speculated: bool = False
    simd: int = 0
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
    dimensions are `turned` (step `pack-operands`), or its elements of another type, parts of those
    of the array (step `split-floats`); or its elements are those `at` these subscripts of that
    array, of the `position`s in it (`ir.stand_ins`, step `unfold-windows`)."""

    name: str
    type: Scalar
    shape: tuple[Expr, ...] = ()
    space: Space | None = None
    heap: bool = False
    like: str = ""
    turned: bool = False
    ahead: int = 0
    exposed: bool = False
    at: tuple[Expr, ...] = ()


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
