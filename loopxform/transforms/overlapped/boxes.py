"""Boxes of elements whose bounds are expressions of the program's sizes."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce

from loopxform.ir.affine import poly, simplify
from loopxform.ir.nodes import Bin, Const, Expr
from loopxform.transforms.overlapped.stages import Box


def least(exprs: Iterable[Expr]) -> Expr:
    """The least of some expressions; those that are certainly not less than another are left
    out."""
    return _extreme(exprs, "min", 1)


def greatest(exprs: Iterable[Expr]) -> Expr:
    """The greatest of some expressions."""
    return _extreme(exprs, "max", -1)


def _extreme(exprs: Iterable[Expr], op: str, sign: int) -> Expr:
    left: list[Expr] = []
    for e in dict.fromkeys(map(simplify, dict.fromkeys(exprs))):
        apart = [(poly(e) - poly(x)).value for x in left]
        if any(d is not None and d * sign >= 0 for d in apart):
            continue
        left = [x for x, d in zip(left, apart) if d is None] + [e]
    return reduce(lambda a, b: Bin(op, a, b), left)


def are_apart(a: Box, b: Box) -> bool:
    """Whether two boxes certainly have no element in common."""
    return any(_at_most(x[1], y[0]) or _at_most(y[1], x[0]) for x, y in zip(a, b, strict=True))


def _at_most(a: Expr, b: Expr) -> bool:
    difference = (poly(b) - poly(a)).value
    return difference is not None and difference >= 0


def covers(outer: Box, inner: Box) -> bool:
    """Whether a box certainly holds all of another."""
    return all(
        _at_most(o[0], i[0]) and _at_most(i[1], o[1]) for o, i in zip(outer, inner, strict=True)
    )


def moved(box: Box, away: tuple[int, ...]) -> Box:
    """The box of the elements at a distance from those of a box."""
    return tuple(
        (simplify(Bin("+", lo, Const(n))), simplify(Bin("+", hi, Const(n))))
        for (lo, hi), n in zip(box, away, strict=True)
    )


def hull(boxes: Iterable[Box]) -> Box:
    """The least box around others, none of which is empty."""
    return tuple(
        (least(lo for lo, _ in pairs), greatest(hi for _, hi in pairs))
        for pairs in map(tuple, zip(*boxes))
    )


def inside(at: tuple[Expr, ...], box: Box) -> list[Expr]:
    """What holds of the coordinates of an element of a box."""
    tests = [(Bin("<=", lo, x), Bin("<", x, hi)) for x, (lo, hi) in zip(at, box, strict=True)]
    return [t for pair in tests for t in pair]
