"""Which divisors are of a usual size as soon as the arguments of the square roots that they are
computed from are.

    r = sqrt(r2); w = m / (r * r2)       r2 from 2^-31 to 2^33: r * r2 is from 2^-46.5 to 2^49.5

So one test tells what two would, of the argument and of the quotient. A root is taken with every
such divisor, in the same iteration and of the same number: it stands in the divisor, or in what
defines a variable of it, whose only assignment stands where the variable is declared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from loopxform.ir.functions import base_name
from loopxform.ir.nodes import Assign, Bin, Call, Decl, Expr, For, Var
from loopxform.ir.types import FLOAT, Scalar
from loopxform.ir.typing import type_of
from loopxform.ir.visit import loads, names, stmt_exprs, walk, walk_expr, writes

LEAST, MOST = -31, 33
"""The exponents of 2 between which an argument is moderate: 64 of them, which one subtraction and
the upper three bits tell from others."""

WIDTH = 60
"""A divisor is from 2^-WIDTH to 2^WIDTH: its reciprocal, and the quotient of a number from 2^-63 to
2^65, are normal numbers."""

Sizes = tuple[float, float]


class Magnitudes:
    """What is known of the numbers of a loop of work-items."""

    def __init__(self, loop: For, types: dict[str, Scalar]) -> None:
        self.types = types
        self.defined = _definitions(loop)
        dealt = {s.var for _, s in walk((loop,)) if isinstance(s, For) and s.dealt}
        self.moving = (writes(loop.body) - self.defined.keys()) | dealt
        quotients = [
            e
            for _, s in walk((loop,))
            for x in stmt_exprs(s)
            for e in walk_expr(x)
            if isinstance(e, Bin) and e.op == "/" and type_of(e, types) == FLOAT
        ]
        known = [(e.right, frozenset(self._roots(e.right))) for e in quotients]
        near = [(y, roots) for y, roots in known if roots and self._is_near(y, roots)]
        self.divisors = frozenset(y for y, _ in near)
        self.roots = frozenset(x for _, roots in near for x in roots)

    def _roots(self, e: Expr) -> Iterator[Expr]:
        """Of what square roots are taken whenever `e` is computed."""
        match e:
            case Var(name) if name in self.defined:
                yield from self._roots(self.defined[name])
            case Bin("*", left, right):
                yield from self._roots(left)
                yield from self._roots(right)
            case Call(name, (x,)) if self._is_root(e) and not names(x) & self.moving:
                if not any(loads(x)):
                    yield x

    def _is_near(self, e: Expr, roots: frozenset[Expr]) -> bool:
        sizes = self._sizes(e, roots)
        return sizes is not None and sizes[0] >= -WIDTH and sizes[1] <= WIDTH

    def _sizes(self, e: Expr, roots: frozenset[Expr]) -> Sizes | None:
        """Between which exponents of 2 the absolute value of a float is."""
        if type_of(e, self.types) != FLOAT:
            return None
        match e:
            case _ if e in roots:
                return LEAST, MOST
            case Var(name) if name in self.defined:
                return self._sizes(self.defined[name], roots)
            case Bin("*", left, right):
                sizes = self._sizes(left, roots), self._sizes(right, roots)
                if sizes[0] and sizes[1]:
                    return sizes[0][0] + sizes[1][0] - 1, sizes[0][1] + sizes[1][1] + 1
            case Call(_, (x,)) if self._is_root(e) and x in roots:
                return LEAST / 2 - 1, MOST / 2 + 1
        return None

    def _is_root(self, e: Call) -> bool:
        return base_name(e.name) == "sqrt" and type_of(e, self.types) == FLOAT


def _definitions(loop: For) -> dict[str, Expr]:
    """The values of variables that one statement sets, in the block that declares them."""
    inside = [s for _, s in walk((loop,))]
    times = Counter(
        s.target.name for s in inside if isinstance(s, Assign) and isinstance(s.target, Var)
    )
    out = dict[str, Expr]()
    for body in (s.body for s in inside if isinstance(s, For)):
        own = {s.name for s in body if isinstance(s, Decl) and not s.shape}
        for s in body:
            match s:
                case Assign(Var(name)) if s.op == "" and name in own and times[name] == 1:
                    out[name] = s.value
    return out
