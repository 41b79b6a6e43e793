"""Buffered slices: for i: { ... A[i, j] ... } -> for i: { T row[n]; for q < n: row[q] = A[i, q];
                                                          ... row[j] ...  [A[i, q] = row[q]] }

Each iteration of a loop works on a buffer of its own for the slice of an array that it uses: all
uses agree in some subscripts, which keep their values in an iteration, and the buffer has the other
dimensions. It is filled first where the iteration reads what it has not written, and copied back
last where it writes; where all that writes stands under one condition, at the end of that. What no
loop inside reads, before anything is written, is read where it was. Legal where the part of the
array that the program touches is known, and as much of it as is copied exists. Each element that is
copied back must certainly be written in the same iteration, or the slice be that of no other one:
then it gets the value that it had. (`stage_mem` of Exo;
`cache_read` and `cache_write` of TVM; scratch pad memory, Kandemir et al., 2001.)
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import replace
from typing import ClassVar

from loopxform.analysis.context import always
from loopxform.analysis.extent import Extent, existing_box
from loopxform.analysis.privatise import exposed_read
from loopxform.errors import Obstacle
from loopxform.ir.affine import Poly, poly, to_expr
from loopxform.ir.names import fresh
from loopxform.ir.nodes import (
    Assign,
    Bin,
    Const,
    Copy,
    Decl,
    Expr,
    For,
    Function,
    If,
    Load,
    Opaque,
    Return,
    Stmt,
    Var,
)
from loopxform.ir.typing import symbols
from loopxform.ir.visit import (
    LoopSite,
    declared,
    loads,
    loops_around,
    map_body,
    map_exprs,
    names,
    reads,
    replace_at,
    stmt_exprs,
    walk,
    writes,
)
from loopxform.records import record
from loopxform.transforms.base import Step
from loopxform.transforms.edges.bounds import positive
from loopxform.transforms.sites import new_name, one_loop, trusted, unmapped, whole_loop
from loopxform.transforms.storage.copied import COUNTERS, copy_nest, counters

_PART = "LX162"
_BOUNDS = "LX164"
_WRITTEN = "LX161"
_OTHER = "LX168"


@record
class BufferSlice(Step):
    """Gives each iteration of `loop` a buffer for the slice of `array` that it uses; `target` names
    the buffer (default: A_row)."""

    array: str
    loop: str
    target: str = ""

    verb: ClassVar[str] = "buffer-slice"
    usage: ClassVar[str] = "buffer-slice ARRAY LOOP [NAME]"

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        site = one_loop(fn, self.loop)
        if isinstance(site, Obstacle):
            return (site,)
        unfit = (*whole_loop(site), *unmapped(site, "buffer"), *new_name(fn, self.target, site))
        if unfit:
            return unfit
        found = _buffered(fn, site, self.array, self._target(fn))
        if not isinstance(found, Obstacle):
            return ()
        return (replace(found, loc=found.loc or site.loop.origin.loc),)

    def rewrite(self, fn: Function) -> Function:
        site = trusted(one_loop(fn, self.loop))
        found = _buffered(fn, site, self.array, self._target(fn))
        assert isinstance(found, _Buffer)
        return found.function(str(self))

    def _target(self, fn: Function) -> str:
        return self.target or fresh(fn, f"{self.array.replace('.', '_')}_row")

    def reason(self, fn: Function) -> str:
        site = trusted(one_loop(fn, self.loop))
        found = _buffered(fn, site, self.array, self._target(fn))
        assert isinstance(found, _Buffer)
        if not found.back:
            return f"an iteration reads one slice of {self.array}, and writes none of it"
        return f"an iteration uses one slice of {self.array}, which is its own, or written by it"


@record
class _Buffer:
    """A buffer about to be made: the subscripts of the slice (None: a dimension of the buffer) and
    the extents of the other dimensions; whether it is filled first, and copied back last."""

    fn: Function
    site: LoopSite
    array: str
    target: str
    fixed: tuple[Expr | None, ...]
    extents: tuple[Expr, ...]
    filled: bool = True
    back: bool = False

    def function(self, step: str) -> Function:
        loop = self.site.loop
        first = (self.copy(step, back=False),) if self.filled else ()
        body = self.with_copy_back(self.redirected, step) if self.back else self.redirected
        whole = replace(loop, body=(self.decl(step), *first, *body))
        return replace_at(self.fn, self.site.path, (whole,))

    def decl(self, step: str) -> Decl:
        shape = tuple(map(positive, self.extents))
        origin = self.site.loop.origin.then(step)
        return Decl(self.target, symbols(self.fn)[self.array], shape, origin=origin)

    def copy(self, step: str, *, back: bool) -> Stmt:
        """All elements of the slice, into the buffer or back."""
        origin = self.site.loop.origin.then(step)
        own = counters(self.fn, len(self.extents))
        if back and self.filled:
            own = tuple(fresh(self.fn, f"{n}_2") for n in own)
        rest = iter(own)
        index = tuple(Var(next(rest)) if e is None else e for e in self.fixed)
        element, kept = Load(self.array, index), Load(self.target, tuple(map(Var, own)))
        ends = (element, kept) if back else (kept, element)
        move = Assign(*ends, label=f"copy_{self.target}", origin=origin)
        return copy_nest(self.fn, (move,), own, self.extents)

    def with_copy_back(self, body: tuple[Stmt, ...], step: str) -> tuple[Stmt, ...]:
        """A body that copies the buffer back last, under the condition that it writes to it."""
        copy, n = self.copy(step, back=True), self.writing_branch(body)
        if n is None:
            return (*body, copy)
        branch = body[n]
        assert isinstance(branch, If)
        return (*body[:n], replace(branch, then=(*branch.then, copy)), *body[n + 1 :])

    def writing_branch(self, body: tuple[Stmt, ...]) -> int | None:
        """The place of the one statement that writes to the buffer, where that is under a
        condition."""
        writing = [n for n, s in enumerate(body) if self.target in writes((s,))]
        branch = body[writing[0]] if len(writing) == 1 else None
        known = isinstance(branch, If) and self.target not in writes(branch.orelse)
        return writing[0] if known else None

    @property
    def redirected(self) -> tuple[Stmt, ...]:
        """The body with the buffer in the place of the slice, but for what statements of its own
        read before it writes any of that."""
        body = self.site.loop.body
        first = next((n for n, s in enumerate(body) if self.array in writes((s,))), len(body))
        kept = (isinstance(s, Assign) and n < first for n, s in enumerate(body))
        return tuple(
            s if plain else map_exprs((s,), self.in_buffer)[0] for s, plain in zip(body, kept)
        )

    def in_buffer(self, e: Expr) -> Expr:
        if not isinstance(e, Load) or e.array != self.array:
            return e
        index = tuple(i for i, own in zip(e.index, self.fixed) if own is None)
        return Load(self.target, index, origin=e.origin)

    # ------------------------------------------------------------ what is legal

    def is_touched(self, box: Extent) -> bool:
        """Whether the program has all elements that are copied, in each iteration: the slice lies
        in the box that is touched, as far as there is one."""
        alone = replace(self.site.loop, body=(self.copy("", back=False),))
        fn = replace_at(self.fn, self.site.path, (alone,))
        inside = (*self.site.path, *[0] * (len(self.extents) + 1))
        asked = [] if box.when is None else [box.when]
        for e, end in zip(self.fixed, box.upper):
            asked += [] if e is None else [Bin(">=", e, Const(0)), Bin("<", e, end)]
        return all(always(fn, inside, x) for x in asked)

    def covered(self, *, reads: bool) -> bool:
        """Whether an iteration has written all that is copied back, and with `reads` whatever it
        reads, before."""
        loop = self.site.loop
        body = self.redirected if reads else map_body(loop.body, self._written)
        n, body = self.writing_branch(body), self.with_copy_back(body, "")
        if n is not None and not reads:  # nothing is copied back where nothing is written
            branch = body[n]
            assert isinstance(branch, If)
            body = (*body[:n], *branch.then, *body[n + 1 :])
        fn = replace_at(self.fn, self.site.path, (self.decl(""), replace(loop, body=body)))
        *above, last = self.site.path
        return exposed_read(fn, (*above, last + 1), self.target) is None

    def is_set_first(self) -> bool:
        """Whether an iteration has written all of the buffer before the first of its statements
        that reads any: then whatever elements data name are written."""
        loop, body = self.site.loop, self.redirected
        n = next((n for n, s in enumerate(body) if self.target in reads((s,))), None)
        if not n:
            return False
        body = (*body[:n], self.copy("", back=True))
        fn = replace_at(self.fn, self.site.path, (self.decl(""), replace(loop, body=body)))
        *above, last = self.site.path
        return exposed_read(fn, (*above, last + 1), self.target) is None

    def _written(self, s: Stmt) -> tuple[Stmt, ...]:
        """A statement that writes to the buffer what it did to the array, but does not read it."""
        if not isinstance(s, Assign) or not isinstance(s.target, Load):
            return (s,)
        target = self.in_buffer(s.target)
        assert isinstance(target, Load)
        return (s if target is s.target else replace(s, target=target, op=""),)


def _buffered(fn: Function, site: LoopSite, array: str, target: str) -> _Buffer | Obstacle:
    """The buffer, or why there is none."""
    found = _slice(fn, site, array)
    if isinstance(found, Obstacle):
        return found
    box = _own_box(fn, array) or existing_box(fn, array)
    if box is None:
        text = f"the part of '{array}' that is touched has no known bounds"
        return Obstacle(_BOUNDS, text, remedy="leave it where it is")
    extents = tuple(e for e, own in zip(box.upper, found) if own is None)
    changing = {n for e in box.upper for n in names(e)} & (writes(fn.body) | {site.loop.var})
    if changing:
        text = f"the extent of '{array}' depends on '{min(changing)}', which changes"
        return Obstacle("LX145", text, remedy="leave it where it is")
    buffer = _Buffer(fn, site, array, target, found, extents)
    if not buffer.is_touched(box):
        text = f"a slice of '{array}' may reach past what is touched"
        return Obstacle(_BOUNDS, text, remedy="leave it where it is")
    if array not in writes(site.loop.body):
        return buffer
    if buffer.covered(reads=True) or buffer.is_set_first():
        return replace(buffer, filled=False, back=True)
    if buffer.covered(reads=False) or _is_own(fn, site, found):
        return replace(buffer, back=True)
    text = f"an iteration of '{site.loop.var}' may not set every element of its slice of '{array}'"
    return Obstacle(_WRITTEN, text, remedy="leave it where it is")


def _is_own(fn: Function, site: LoopSite, fixed: tuple[Expr | None, ...]) -> bool:
    """Whether no iteration that may run at the same time has the slice: the variable of each
    parallel loop, by a number, is in a subscript of its own."""
    loops = (*(x for x in loops_around(fn, site.path) if x.parallel), site.loop)
    own = {s.var for s in loops}
    found = set[str]()
    for p in (poly(e) for e in fixed if e is not None):
        mentioned = {v for v in own if p.mentions(v)}
        if len(mentioned) == 1:
            (var,) = mentioned
            factor = p.coefficient(var)
            known = factor.value and p.without(var) + factor * poly(Var(var)) == p
            rest = names(to_expr(p.without(var)))
            found |= mentioned if known and not rest & writes(fn.body) else set()
    return found == own


def _own_box(fn: Function, array: str) -> Extent | None:
    """The elements of an array that the function declares beside its loops; None of any other."""
    for s in fn.body:
        if isinstance(s, Decl) and s.name == array and s.shape:
            return Extent(array, tuple(map(_plain, s.shape)), None, corner=True)
    return None


def _plain(size: Expr) -> Expr:
    """Without the 1 that an array has at least."""
    match size:
        case Bin("max", e, Const(1)) | Bin("max", Const(1), e):
            return e
        case _:
            return size


def _slice(fn: Function, site: LoopSite, array: str) -> tuple[Expr | None, ...] | Obstacle:
    """The subscripts that all uses of the array have in common and that keep their values in an
    iteration, None for other dimensions; or why there are none."""
    body = site.loop.body
    problem = _unmodelled(fn, body, array)
    if problem is not None:
        return problem
    used = [x for _, s in walk(body) for e in stmt_exprs(s) for x in loads(e) if x.array == array]
    if not used:
        text = f"'{array}' is not used in the loop over '{site.loop.var}'"
        return Obstacle("LX160", text, remedy="name an array that the loop body uses")
    inner = {s.var for _, s in walk(body) if isinstance(s, For)}
    moving = writes(body) | inner | declared(body).keys()
    fixed = tuple(_common({poly(e): e for e in column}, moving) for column in _columns(used))
    if all(e is None for e in fixed) or None not in fixed or len(fixed) > len(COUNTERS):
        text = f"an iteration of '{site.loop.var}' does not use one slice of '{array}'"
        return Obstacle(_PART, text, remedy="leave it where it is")
    return fixed


def _columns(used: list[Load]) -> list[tuple[Expr, ...]]:
    """The subscripts of uses, by dimension."""
    return list(zip(*(x.index for x in used)))


def _common(found: dict[Poly, Expr], moving: Set[str]) -> Expr | None:
    """The one subscript, where it is one that keeps its value."""
    first, *others = found.values()
    return None if others or names(first) & moving else first


def _unmodelled(fn: Function, body: tuple[Stmt, ...], array: str) -> Obstacle | None:
    beside = {s.name for s in fn.body if isinstance(s, Decl) and s.shape}
    if array not in beside | {p.name for p in fn.objects if p.array}:
        text = f"'{array}' is not an array of the caller's"
        return Obstacle(_OTHER, text, remedy="name a parameter or a global")
    for _, s in walk(body):
        if isinstance(s, Opaque):
            return Obstacle(s.code, s.reason, s.origin.loc, remedy=s.help)
        atomic = isinstance(s, Assign) and s.atomic and array in writes((s,))
        if (
            isinstance(s, Return)
            or atomic
            or (isinstance(s, Copy) and array in (s.source, s.target))
        ):
            text = f"'{array}' is staged, or updated by others, in the loop"
            return Obstacle(_WRITTEN, text, s.origin.loc, remedy="buffer slices before other steps")
    return None
