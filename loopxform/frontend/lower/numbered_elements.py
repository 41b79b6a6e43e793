"""Elements of a matrix that a loop walks along by their number, as elements of rows.

    for (t = 0; t < n*m; t++) c[t] = 0;   ->   for (t...) c[t / m, t % m] = 0;

where other accesses say that rows have m elements. The numbers begin at 0 and end with a row, so
that the loop can become one over rows and one over columns: a loop that does nothing but store
elements, each where it says.
"""

from __future__ import annotations

from collections.abc import Sequence

from loopxform.frontend.lower.accesses import Access
from loopxform.ir.affine import Poly, constant, poly, to_expr
from loopxform.ir.nodes import Assign, Bin, Const, Expr, For, Function, Load, Stmt, Var
from loopxform.ir.quotients import divide
from loopxform.ir.visit import loads, stmt_exprs, walk, walk_expr


def numbered(fn: Function) -> frozenset[int]:
    """The accesses (by `id`) in loops that store to elements alone, which no data name."""
    found = set[int]()
    for _, loop in walk(fn.body):
        if not isinstance(loop, For) or not all(map(_stores, loop.body)):
            continue
        exprs = [e for s in loop.body for e in stmt_exprs(s)]
        found |= {id(x) for e in exprs for x in walk_expr(e) if isinstance(x, Load)}
    return frozenset(found)


def _stores(s: Stmt) -> bool:
    match s:
        case Assign(Load(index=index)):
            return not any(any(loads(i)) for i in index)
        case _:
            return False


def by_number(a: Access, strides: Sequence[Poly]) -> tuple[list[Poly], list[Expr]] | None:
    """The index of an element that a loop numbers, outermost first, and that rows have elements, to
    be asked of the arguments; None where the subscript is anything else, or the last row is not
    whole. `strides` are those of the outer dimensions, the largest first."""
    number = to_expr(a.poly)
    if len(strides) > 1 or not isinstance(number, Var) or strides[-1].constant is not None:
        return None
    bounds = [b for b in a.context if b.var == number.name]
    from_zero = any(b.lower and b.limit.value == 0 for b in bounds)
    ends = [b.limit + constant(1) for b in bounds if not b.lower]
    whole = len(ends) == 1 and divide(ends[0], strides[0]) is not None
    if not (from_zero and whole):
        return None
    rest, index = Poly(a.poly.terms), list[Poly]()
    for stride in strides:
        index.append(poly(Bin("/", to_expr(rest), to_expr(stride))))
        rest = poly(Bin("%", to_expr(rest), to_expr(stride)))
    asked: list[Expr] = [Bin(">=", to_expr(s), Const(1)) for s in strides]
    return [*index, rest], asked
