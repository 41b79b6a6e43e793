"""Whether iterations next to each other take about as long, where data say how long they take.

Work-items that run in lockstep wait for the longest of theirs. What they have to wait is little
where the length of an iteration changes slowly along the loops, as that of escape times and marches
along rays does: it is computed from the counters by arithmetic of floats, or from those that images
and grids hold. Lengths that lists tell, or that come of integers whose bits are mixed (Collatz,
hashes, generators), differ at random; but those of loops that divide again and again (common
divisors, digits) are logarithms, which differ little.
"""

from __future__ import annotations

from collections.abc import Iterator

from loopxform.ir.affine import poly, value_of
from loopxform.ir.nodes import Assign, Bin, Expr, For, Function, If, Load, Stmt, Var
from loopxform.ir.types import Scalar
from loopxform.ir.typing import symbols, type_of
from loopxform.ir.visit import bodies, loads, names, stmt_exprs, walk, walk_expr, writes
from loopxform.ir.whiles import is_while, test
from loopxform.transforms.edges.bounds import conjuncts

DIVIDING = ("/", "%", ">>")
MIXING = ("%", "&", "|", "^")
"""Operators of integers whose results say little about those next to them."""


def lengths_differ(fn: Function, body: tuple[Stmt, ...], loop: For, *, grid: bool) -> bool:
    """Whether neighbouring iterations, which run `body`, may have to do with lengths of the loop in
    there that have nothing to do with each other; those of a `grid` run along several loops."""
    types = symbols(fn)
    if _divides(loop, types):
        return False
    arrays = {p.name: p.type for p in fn.objects if p.array or p.shape}
    for e in _deciding(body, loop):
        read = [arrays[x.array] for x in loads(e) if x.array in arrays]
        if any(t.is_integer or not grid for t in read):
            return True
        if any(_mixes(x, types) for x in walk_expr(e)):
            return True
    return False


def touches_memory(fn: Function, loop: For) -> bool:
    """Whether iterations of a loop write to arrays of the caller's, or read another element of one
    each: neighbours that run in step may read neighbouring elements."""
    arrays = {p.name for p in fn.objects if p.array or p.shape}
    changing = writes(loop.body) | {loop.var}
    if arrays & writes(loop.body):
        return True
    every = (test(loop), *(e for _, s in walk(loop.body) for e in stmt_exprs(s)))
    read = (x for e in every for x in loads(e) if x.array in arrays)
    return any(names(i) & changing for x in read for i in x.index)


def is_short(loop: For, most: int) -> bool:
    """Whether a number says that the loop has few iterations: one that a counter is compared with,
    which is taken to begin at 0."""
    compared = (e for e in conjuncts(test(loop)) if isinstance(e, Bin) and e.op in ("<", "<="))
    numbers = (value_of(e.right) for e in compared if _counts(loop, e.left))
    return any(number is not None and number <= most for number in numbers)


def _counts(loop: For, e: Expr) -> bool:
    """Whether a variable is the loop's, or grows by 1 in each of its iterations."""
    if not isinstance(e, Var):
        return False
    values = [poly(x) - poly(e) for x in _values(loop.body, e.name)]
    return e.name == loop.var or (len(values) == 1 and values[0].value == 1)


def _deciding(body: tuple[Stmt, ...], loop: For) -> list[Expr]:
    """What the end of the loop is computed from: expressions, of conditions around them too."""
    found = [loop.lo, test(loop)]
    known = set[str]()
    while wanted := {n for e in found for n in names(e)} - known:
        known |= wanted
        found += _setting(body, wanted)
    return found


def _setting(body: tuple[Stmt, ...], wanted: set[str]) -> Iterator[Expr]:
    """What the statements compute that set these, and what decides whether they run."""
    for s in body:
        if isinstance(s, Assign):
            target = s.target.name if isinstance(s.target, Var) else s.target.array
            if target in wanted:
                yield s.value
                if s.op in MIXING:
                    yield Bin(s.op, Var(target), s.value)
                yield from s.target.index if isinstance(s.target, Load) else ()
        elif writes((s,)) & wanted:
            if isinstance(s, If):
                yield s.cond
            elif isinstance(s, For):
                yield from (s.lo, test(s))
            for inner in bodies(s):
                yield from _setting(inner, wanted)


def _divides(loop: For, types: dict[str, Scalar]) -> bool:
    """Whether all that changes of what the loop asks are integers that are divided."""
    if loop.var in names(test(loop)) and not is_while(loop):
        return False
    known, wanted = frozenset[str](), names(test(loop)) & writes(loop.body)
    divided = False
    while wanted:
        known |= wanted
        values = [e for n in wanted for e in _values(loop.body, n)]
        if any(not _is_part(e, types) for e in values):
            return False
        divided = divided or any(isinstance(e, Bin) for e in values)
        copied = frozenset(e.name for e in values if isinstance(e, Var))
        wanted = (copied & writes(loop.body)) - known
    return divided


def _values(body: tuple[Stmt, ...], name: str) -> Iterator[Expr]:
    """What a scalar is set to."""
    for _, s in walk(body):
        if isinstance(s, Assign) and s.target == Var(name):
            yield Bin(s.op, s.target, s.value) if s.op else s.value


def _is_part(e: Expr, types: dict[str, Scalar]) -> bool:
    """A variable, or the quotient or the rest of a division of integers."""
    if isinstance(e, Var):
        return True
    return isinstance(e, Bin) and e.op in DIVIDING and type_of(e, types).is_integer


def _mixes(e: Expr, types: dict[str, Scalar]) -> bool:
    """Whether an operator mixes bits: a product does where it wraps around."""
    if not isinstance(e, Bin):
        return False
    if e.op in MIXING:
        return True
    return e.op == "*" and type_of(e, types).is_unsigned
