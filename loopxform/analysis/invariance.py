"""Which loops a value varies with: what tiling is driven by.

    varies(x) = { loop l : the value of x may differ between iterations of l }

An access is invariant to a loop when its address is: then the element is used again in every
iteration. Scalars computed in the nest (`j = l > 0 ? ps[l][b] : b`) vary with what their values and
the conditions around them vary with, however convoluted: that is all that tiling an indirect access
needs to know. (Cholewa-Madsen and Holst, section 2.4.2; Henriksen, section on automatic loop
tiling.)
"""

from __future__ import annotations

from collections.abc import Iterator

from loopxform.analysis.clamped import subscript
from loopxform.ir.affine import poly, value_of
from loopxform.ir.nodes import Assign, Bin, Decl, Expr, For, Function, If, Load, Stmt, Var
from loopxform.ir.types import Space
from loopxform.ir.visit import bodies, loads, names, resolve, stmt_exprs, walk, writes
from loopxform.records import record

Loops = frozenset[str]
NONE: Loops = frozenset()


@record
class Read:
    """A read of an array that nothing in the nest writes: the sequential loops around it
    (outermost first), how many of them stand under no condition, and what its address varies
    with. `index` are its subscripts as they would be if they were not clamped."""

    load: Load
    index: tuple[Expr, ...]
    loops: tuple[For, ...]
    free: int
    varies: Loops

    @property
    def array(self) -> str:
        return self.load.array

    @property
    def is_clamped(self) -> bool:
        return self.index != self.load.index


@record
class Invariance:
    """The facts of one body inside parallel loops: what each name varies with, and the reads."""

    values: dict[str, Loops]
    reads: tuple[Read, ...]

    def of(self, e: Expr) -> Loops:
        """The loops that the value of `e` varies with."""
        return _of(e, self.values)

    def header(self, loop: For) -> Loops:
        """The loops that the bounds of `loop` vary with."""
        return self.of(loop.lo) | self.of(loop.hi) | self.of(loop.step)


def invariance(fn: Function, body: tuple[Stmt, ...], parallel: tuple[str, ...]) -> Invariance:
    """The facts of `body`, which stands inside the loops `parallel`."""
    objects = {p.name for p in fn.objects if p.array}
    objects |= {s.name for _, s in walk(fn.body) if isinstance(s, Decl) and s.space is Space.GLOBAL}
    objects |= {s.name for s in fn.body if isinstance(s, Decl) and s.shape and not s.space}
    written = writes(body)
    values: dict[str, Loops] = {v: frozenset({v}) for v in parallel}
    every = frozenset(parallel) | {s.var for s in _loops(body)}
    tiled = {s.var: [p for p in parallel if _is_tile(fn, s, p)] for s in _loops(body)}
    values |= {v: frozenset({v, *of}) for v, of in tiled.items()}
    values |= dict.fromkeys(objects & written, every)
    while _spread(body, values, NONE):
        pass
    constant = objects - written
    reads = tuple(_reads(fn, body, constant, values, (), None))
    return Invariance(values, reads)


def _of(e: Expr, values: dict[str, Loops]) -> Loops:
    return frozenset(v for n in names(e) for v in values.get(n, NONE))


def _is_tile(fn: Function, s: For, p: str) -> bool:
    """Whether no two iterations of the loop over p give a loop a value in common: each has a tile
    of its own, `for (k = p; k < min(n, p + T); ...)` where p grows by T."""
    widths = [(poly(e) - poly(Var(p))).value for e in _ends(s.hi)]
    strides = [value_of(x.loop.step) or 0 for x in resolve(fn, p)]
    fits = any(w is not None and all(w <= n for n in strides) for w in widths)
    return poly(s.lo) == poly(Var(p)) and fits


def _ends(e: Expr) -> list[Expr]:
    """The operands of nested mins."""
    if isinstance(e, Bin) and e.op == "min":
        return [*_ends(e.left), *_ends(e.right)]
    return [e]


def _loops(body: tuple[Stmt, ...]) -> Iterator[For]:
    for s in body:
        if isinstance(s, For):
            yield s
        for inner in bodies(s):
            yield from _loops(inner)


def _spread(body: tuple[Stmt, ...], values: dict[str, Loops], around: Loops) -> bool:
    """Lets every assignment under conditions that vary with `around` add to what its target varies
    with; whether anything was added."""
    changed = False
    for s in body:
        match s:
            case Assign(target, value, op):
                found = _of(value, values) | around
                name = target.name if isinstance(target, Var) else target.array
                if isinstance(target, Load):
                    found |= frozenset(v for i in target.index for v in _of(i, values))
                if op or name in names(value):
                    found |= _of(target, values)
                if not found <= values.get(name, NONE):
                    values[name] = values.get(name, NONE) | found
                    changed = True
            case If(cond):
                inner = around | _of(cond, values)
                changed |= _spread(s.then, values, inner) | _spread(s.orelse, values, inner)
            case For():
                header = _of(s.lo, values) | _of(s.hi, values) | _of(s.step, values)
                grown = _accumulated(s)
                inner = around | header
                changed |= _spread(s.body, values, inner)
                for name in grown:
                    if s.var not in values.get(name, NONE):
                        values[name] = values.get(name, NONE) | {s.var}
                        changed = True
            case _:
                continue
    return changed


def _accumulated(loop: For) -> frozenset[str]:
    """What an iteration of the loop computes from what an earlier one left."""
    own = {s.name for s in loop.body if isinstance(s, Decl)}
    out = set()
    for s in _statements(loop.body):
        if isinstance(s, Assign):
            name = s.target.name if isinstance(s.target, Var) else s.target.array
            if s.op or name in names(s.value):
                out.add(name)
    return frozenset(out) - own


def _statements(body: tuple[Stmt, ...]) -> Iterator[Stmt]:
    for s in body:
        yield s
        for inner in bodies(s):
            yield from _statements(inner)


def _reads(
    fn: Function,
    body: tuple[Stmt, ...],
    constant: set[str],
    values: dict[str, Loops],
    loops: tuple[For, ...],
    free: int | None,
) -> Iterator[Read]:
    """`free` is the number of loops outside the outermost condition, None where there is none."""
    for s in body:
        for e in stmt_exprs(s):
            for x in loads(e):
                if x.array in constant:
                    varies = frozenset(v for i in x.index for v in _of(i, values))
                    index = tuple(subscript(fn, i).index for i in x.index)
                    yield Read(x, index, loops, len(loops) if free is None else free, varies)
        inside = (*loops, s) if isinstance(s, For) else loops
        under = len(loops) if free is None and isinstance(s, If) else free
        for inner in bodies(s):
            yield from _reads(fn, inner, constant, values, inside, under)
