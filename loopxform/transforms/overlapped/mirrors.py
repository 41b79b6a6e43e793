"""Mirrored subscripts: `abs(u)`, `n - 1 - abs(n - 1 - u)`, `u < 0 ? -u : u >= n ? 2*n - 2 - u : u`.

With u <= last, a mirror at the low end, m(u) = u from `at` on and total - u below, lies between two
numbers that never fall as u grows, where total >= 2*at - 2:

    max(u, min(at, total - at + 1)) <= m(u) <= max(u, total - first)

and one at the high end, m(u) = u up to `at` and total - u above, where total <= 2*at + 2:

    min(u, total - last) <= m(u) <= min(u, max(at, total - at - 1))

A mirror at both ends lies between both clamps of each side.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from loopxform.ir.affine import Poly, constant, poly, simplify, to_expr, value_of
from loopxform.ir.clamps import not_negative
from loopxform.ir.nodes import Bin, Call, Const, Expr, Select, Un, Var
from loopxform.ir.visit import map_expr, names, substitute, walk_expr
from loopxform.records import record
from loopxform.transforms.overlapped.spans import difference, line, without_choices

FURTHEST = 1 << 25
"""Coordinates up to which numbers next to twice as large do not overflow."""

LARGEST = 1 << 20
MIRRORED = "#mirrored"
"""Stands for a mirrored number in what is computed from it."""

Ends = Callable[[Expr], tuple[Expr, Expr]]
"""What an expression is in the first and in the last iteration."""


@record
class End:
    """Beyond `at`, a number u is `total - u`."""

    at: Poly
    total: Poly


@record
class Mirror:
    """`index`, mirrored at its ends."""

    index: Expr
    low: End | None = None
    high: End | None = None


@record
class Between:
    """A subscript lies between two that never fall, where each of `asked` is a first and a last
    number."""

    least: Expr
    most: Expr
    asked: tuple[tuple[Expr, Expr], ...] = ()


def without_abs(e: Expr) -> Expr:
    """An expression of integers with choices for absolute values."""

    def each(x: Expr) -> Expr:
        if isinstance(x, Call) and x.name in ("abs", "labs", "llabs"):
            (u,) = x.args
            return Select(Bin("<", u, Const(0)), Un("-", u), u)
        return x

    return map_expr(e, each)


def between(e: Expr, counter: str, ends: Ends) -> Between | None:
    """A subscript of signed numbers of one counter that has a mirrored number in it; None where it
    has none, or where it may fall as that grows."""
    inner = next((x for x in _outermost(e) if counter in names(x)), None)
    if inner is None:
        return None
    whole = map_expr(e, lambda x: Var(MIRRORED) if x == inner else x)
    rest = without_choices(whole, frozenset((MIRRORED,))).index
    found = _bounds(inner, counter, ends)
    if found is None or counter in names(rest) or line(rest, MIRRORED) is None:
        return None
    least, most = (substitute(whole, {MIRRORED: x}) for x in (found.least, found.most))
    return Between(least, most, found.asked)


def _outermost(e: Expr) -> Iterator[Expr]:
    """The mirrored numbers that are in no other."""
    return (x for x in walk_expr(e) if _mirror(x) is not None)


def _bounds(e: Expr, counter: str, ends: Ends) -> Between | None:
    found = _mirror(e)
    if found is None:
        return Between(e, e) if line(e, counter) is not None else None
    u = _bounds(found.index, counter, ends)
    if u is None:
        return None
    first, at_first = _extreme(u.least, counter, ends, 0)
    last, at_last = _extreme(u.most, counter, ends, 1)
    asked = [*u.asked, *at_first, *at_last, (last, Const(FURTHEST)), (Const(-FURTHEST), first)]
    least, most = u.least, u.most
    if found.low is not None:
        at, total = (value_of(to_expr(x)) for x in (found.low.at, found.low.total))
        if at is None or total is None or max(abs(at), abs(total)) > LARGEST or total < 2 * at - 2:
            return None
        least = Bin("max", least, Const(min(at, total - at + 1)))
    if found.high is not None:
        at_high, sum_high = to_expr(found.high.at), to_expr(found.high.total)
        room = difference(simplify(Bin("+", Bin("*", Const(2), at_high), Const(2))), sum_high)[0]
        if room is None or room < 0:
            return None
        asked += [(at_high, Const(FURTHEST)), (Const(-FURTHEST), at_high)]
        turned = simplify(Bin("-", Bin("-", sum_high, at_high), Const(1)))
        gap = difference(turned, at_high)
        top = at_high if gap[1] is not None and gap[1] <= 0 else Bin("max", at_high, turned)
        least = Bin("min", least, simplify(Bin("-", sum_high, last)))
        most = Bin("min", most, top)
    if found.low is not None:
        most = Bin("max", most, simplify(Bin("-", to_expr(found.low.total), first)))
    return Between(least, most, tuple(asked))


def _extreme(e: Expr, counter: str, ends: Ends, side: int) -> tuple[Expr, list[tuple[Expr, Expr]]]:
    """The first (0) or last (1) of the numbers that one bound of a mirrored number takes, if what
    is asked holds: then the mirror at the other end is too far away to decide it."""
    limits = isinstance(e, Bin) and e.op == ("max" if side else "min")
    if limits and isinstance(e, Bin) and counter not in names(e.right):
        plain, other = ends(e.left)[side], e.right
        return plain, [(other, plain) if side else (plain, other)]
    return ends(e)[side], []


def _mirror(e: Expr) -> Mirror | None:
    """A choice between a number and its mirror image, or a number less such a one."""
    pushed = _pushed(e)
    if not isinstance(pushed, Select):
        return None
    holds = not_negative(pushed.cond)
    if holds is None:
        return None
    fails = -holds - constant(1)
    for image, plain, where in (
        (pushed.then, pushed.orelse, holds),
        (pushed.orelse, pushed.then, fails),
    ):
        for own in (_mirror(plain), Mirror(plain)):
            found = None if own is None else _with_end(own, poly(image), where)
            if found is not None:
                return found
    return None


def _with_end(m: Mirror, image: Poly, where: Poly) -> Mirror | None:
    """`image` where a number is not negative, else `m`."""
    u = poly(m.index)
    total = image + u
    varying = [x for x, _ in u.terms if x]
    if not varying or any(x in varying for x, _ in total.terms):
        return None
    below, above = where + u, where - u
    if m.low is None and not any(x in varying for x, _ in below.terms):
        return Mirror(m.index, End(below + constant(1), total), m.high)
    if m.high is None and not any(x in varying for x, _ in above.terms):
        return Mirror(m.index, m.low, End(-above - constant(1), total))
    return None


def _pushed(e: Expr) -> Expr:
    """`a - (cond ? x : y)` as `cond ? a - x : a - y`."""
    if isinstance(e, Select):
        return e
    whole = poly(e)
    choices = [(m[0], c) for m, c in whole.terms if len(m) == 1 and isinstance(m[0], Select)]
    if len(choices) != 1 or choices[0][1] != -1:
        return e
    ((choice, _),) = choices
    assert isinstance(choice, Select)
    rest = whole + poly(choice)
    then, orelse = (to_expr(rest - poly(x)) for x in (choice.then, choice.orelse))
    return Select(choice.cond, then, orelse)
