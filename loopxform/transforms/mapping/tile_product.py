"""Loops that do nothing but add products of register tiles, as tensor units compute them:

    for k: { A_reg = A_loc[k]; B_reg = B_loc[k]; for i: for j: acc[i][j] += A_reg[i] * B_reg[j] }

Each element may be added several products in an iteration, and there may be elements of several
arrays, as of the real and the imaginary parts of complex numbers:

    re[i][j] += Ar[i] * Br[j];  re[i][j] -= Ai[i] * Bi[j];
    im[i][j] += Ar[i] * Bi[j];  im[i][j] += Ai[i] * Br[j];
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from loopxform.ir.affine import value_of
from loopxform.ir.bfloats import AS_FLOAT, upper_half
from loopxform.ir.nodes import Assign, Bin, Call, Cast, Copy, Expr, For, Load, Stmt, Un, Var
from loopxform.ir.tensor_tiles import TensorTile
from loopxform.ir.visit import loads
from loopxform.records import record
from loopxform.transforms.latency.register_pipeline import parts


@record
class Factor:
    """A row or a column of elements of a register tile: what a `copy` reads, with constants for the
    subscripts that are not the row or the column (`at`, None for that one). A function may make a
    float of each, of which it is the upper half: `by` is its name. Each may first be
    multiplied by a number, `scale`."""

    copy: Copy
    at: tuple[int | None, ...]
    by: str = ""
    scale: Expr | None = None


@record
class Term:
    """A product of two of them, which is `subtracted` or added."""

    left: Factor
    right: Factor
    value: Expr
    subtracted: bool


@record
class Fragment:
    """What work-items have of an operand where neighbours have different terms of an iteration: the
    factor that each has, and whether it is `negated`."""

    factors: tuple[Factor, ...]
    negated: tuple[bool, ...]


@record
class Sum:
    """What each iteration adds to an element, in order."""

    target: Load
    terms: tuple[Term, ...]

    @property
    def left(self) -> Fragment:
        """What work-items have of the rows of its terms."""
        return Fragment(tuple(t.left for t in self.terms), (False,) * len(self.terms))

    @property
    def right(self) -> Fragment:
        """What they have of the columns: the negated ones where terms are subtracted."""
        return Fragment(tuple(t.right for t in self.terms), tuple(t.subtracted for t in self.terms))


@record
class TileProduct:
    """What such a loop computes: the loops over rows and columns of a work-item, and the sums that
    each iteration adds to. They are computed `in_order` where each statement adds one product to
    what the one before has left; else products are added to each other first."""

    rows: For
    columns: For
    sums: tuple[Sum, ...]
    in_order: bool

    @property
    def terms(self) -> tuple[Term, ...]:
        """Those of all sums."""
        return tuple(t for s in self.sums for t in s.terms)

    @property
    def left(self) -> Copy:
        """The operand of rows, where there is one product."""
        return self.terms[0].left.copy

    @property
    def right(self) -> Copy:
        """The operand of columns, where there is one product."""
        return self.terms[0].right.copy

    @property
    def lefts(self) -> tuple[Copy, ...]:
        """All operands of rows."""
        return tuple(dict.fromkeys(t.left.copy for t in self.terms))

    @property
    def rights(self) -> tuple[Copy, ...]:
        """All operands of columns."""
        return tuple(dict.fromkeys(t.right.copy for t in self.terms))

    def registers(self) -> dict[Fragment, Factor] | None:
        """Those of the registers of its operands that hold a fragment each; None where there are
        too few."""
        found = dict[Fragment, Factor]()
        for fragments, factors in (
            ((s.left for s in self.sums), (t.left for t in self.terms)),
            ((s.right for s in self.sums), (t.right for t in self.terms)),
        ):
            kinds, free = dict.fromkeys(fragments), dict.fromkeys(factors)
            if len(kinds) > len(free):
                return None
            found |= zip(kinds, free)
        return found

    def is_of(self, tile: TensorTile) -> bool:
        """Whether each sum has as many terms as the tile adds. Words of several numbers are read as
        they are: of these none are subtracted or scaled, nor elements of longer rows."""
        if any(len(s.terms) != tile.terms for s in self.sums):
            return False
        single = len(self.sums) == 1 and not self._constants
        added = not any(t.subtracted for t in self.terms)
        whole = tile.packed == 1 and not tile.split
        plain = not any(f.scale for t in self.terms for f in (t.left, t.right))
        return (plain and tile.terms > 1) or (single and (whole or (added and plain)))

    @property
    def _constants(self) -> bool:
        factors = [f for t in self.terms for f in (t.left, t.right)]
        return any(n is not None for f in factors for n in f.at)


def tile_product(loop: For) -> TileProduct | None:
    """The sums of products of register tiles that are all that a loop computes."""
    own, copies, rest = parts(loop)
    rows = rest[0] if len(rest) == 1 else None
    columns = rows.body[0] if isinstance(rows, For) and len(rows.body) == 1 else None
    if not isinstance(rows, For) or not isinstance(columns, For):
        return None
    if len(copies) < 2 or {c.target for c in copies} != {d.name for d in own}:
        return None
    by_name = {c.target: c for c in copies}
    sums, in_order = dict[Load, list[Term]](), True
    for s in columns.body:
        if not isinstance(s, Assign) or not isinstance(s.target, Load) or s.atomic:
            return None
        added = _added(s)
        if added is None:
            return None
        terms = [_term(e, minus, by_name, rows.var, columns.var) for e, minus in added.products]
        sums.setdefault(s.target, []).extend(t for t in terms if t is not None)
        if None in terms:
            return None
        in_order = in_order and added.in_order
    if not sums or set(by_name) != {f.copy.target for f in _factors(sums.values())}:
        return None
    return TileProduct(rows, columns, tuple(Sum(t, tuple(x)) for t, x in sums.items()), in_order)


def are_sums_of(terms: int, body: Sequence[Stmt], *, in_order: bool) -> bool:
    """Whether statements do nothing but add so many products of two elements each to what they
    sum up, one after the other if that is asked."""
    counts = dict[Expr, int]()
    for s in body:
        added = None if not isinstance(s, Assign) or s.atomic else _added(s)
        if not isinstance(s, Assign) or added is None or (in_order and not added.in_order):
            return False
        factors = [x for e, _ in added.products if isinstance(e, Bin) for x in (e.left, e.right)]
        counts[s.target] = counts.get(s.target, 0) + len(added.products)
        if any(not isinstance(e, Bin) or e.op != "*" for e, _ in added.products):
            return False
        if any(not isinstance(_number(x)[0], Load) for x in factors):
            return False
    return bool(counts) and set(counts.values()) == {terms}


def _factors(sums: Iterable[Iterable[Term]]) -> Iterator[Factor]:
    for t in (t for terms in sums for t in terms):
        yield from (t.left, t.right)


@record
class _Added:
    """The products that are added to a target, and whether each is subtracted."""

    products: tuple[tuple[Expr, bool], ...]
    in_order: bool = True

    def then(self, e: Expr, minus: bool) -> _Added:
        """With what is added next."""
        more = tuple(_flat(e, minus))
        return _Added((*self.products, *more), self.in_order and len(more) == 1)


def _added(s: Assign) -> _Added | None:
    """What a statement adds to its target."""
    if s.op in ("+", "-"):
        return _Added(()).then(s.value, s.op == "-")
    return None if s.op else _chain(s.value, s.target)


def _chain(e: Expr, target: Expr) -> _Added | None:
    """What is added to the target, one after the other."""
    if e == target:
        return _Added(())
    if not isinstance(e, Bin) or e.op not in ("+", "-"):
        return None
    if e.op == "+" and e.right == target:
        return _Added(()).then(e.left, False)
    before = _chain(e.left, target)
    return None if before is None else before.then(e.right, e.op == "-")


def _flat(e: Expr, minus: bool) -> Iterator[tuple[Expr, bool]]:
    """The products of a sum of products."""
    match e:
        case Bin("+" | "-" as op, left, right):
            yield from _flat(left, minus)
            yield from _flat(right, minus != (op == "-"))
        case Un("-", operand):
            yield from _flat(operand, not minus)
        case _:
            yield e, minus


def _term(e: Expr, minus: bool, copies: dict[str, Copy], row: str, column: str) -> Term | None:
    if not isinstance(e, Bin) or e.op != "*":
        return None
    for a, b in ((e.left, e.right), (e.right, e.left)):
        left, right = _factor(a, copies, row), _factor(b, copies, column)
        if left is not None and right is not None:
            return Term(left, right, e, minus)
    return None


def _factor(e: Expr, copies: dict[str, Copy], own: str) -> Factor | None:
    """The elements that a factor, or a conversion of it to the type of the product, is one of."""
    if isinstance(e, Bin) and e.op == "*":
        for scale, x in ((e.left, e.right), (e.right, e.left)):
            inner = None if any(loads(scale)) else _factor(x, copies, own)
            if inner is not None and inner.scale is None:
                return replace(inner, scale=scale)
        return None
    e, by = _number(e)
    if not isinstance(e, Load) or e.array not in copies:
        return None
    at = [None if x == Var(own) else value_of(x) for x in e.index]
    known = all(n is not None or x == Var(own) for n, x in zip(at, e.index))
    return Factor(copies[e.array], tuple(at), by) if known and at.count(None) == 1 else None


def _number(e: Expr) -> tuple[Expr, str]:
    """The element that a factor is, as it is or converted, and the function that makes a float of
    it."""
    if isinstance(e, Cast):
        return e.operand, ""
    bits = upper_half(e)
    if bits is not None:
        return bits, AS_FLOAT
    if isinstance(e, Call) and len(e.args) == 1:
        return e.args[0], e.name
    return e, ""
