"""How many elements of an array a tile touches, as formulas of the tile sizes.

A[i, k] over Ty*Ry rows and Tk columns: Ty*Ry by Tk
in[i + u, j + v] with a window of 7 by 7: Ty*Ry + 6 by Tx*Rx + 6
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import prod

from loopxform.ir.affine import Poly, poly
from loopxform.ir.nodes import Expr, Var
from loopxform.records import record

Factors = tuple[str | int, ...]
"""A product of tile sizes, by name, and numbers."""


def amount(factors: Factors, sizes: Mapping[str, int]) -> int:
    return prod(f if isinstance(f, int) else sizes[f] for f in factors)


def product_text(factors: Factors) -> str:
    return "*".join(map(str, factors)) or "1"


@record
class Width:
    """The elements touched in one dimension: `sum of c * (n - 1), plus 1, plus spread`, for every
    loop that takes n values and is multiplied by c."""

    terms: tuple[tuple[int, Factors], ...]
    spread: int = 0

    def value(self, sizes: Mapping[str, int]) -> int:
        return 1 + self.spread + sum(c * (amount(f, sizes) - 1) for c, f in self.terms)

    @property
    def text(self) -> str:
        rest = 1 + self.spread - sum(c for c, _ in self.terms)
        parts = [f"{c}*{product_text(f)}" if c > 1 else product_text(f) for c, f in self.terms]
        numbers = [int(p) for p in parts if p.isdecimal()]
        named = [p for p in parts if not p.isdecimal()]
        total = rest + sum(numbers)
        text = " + ".join(named) or str(total)
        if named and total:
            text += f" {'+' if total > 0 else '-'} {abs(total)}"
        return f"({text})" if named and (total or len(named) > 1) else text


@record
class Box:
    """A part of an array: its width in each dimension that spans more than one element."""

    widths: tuple[Width, ...]

    def elements(self, sizes: Mapping[str, int]) -> int:
        return prod(w.value(sizes) for w in self.widths)

    @property
    def text(self) -> str:
        return "*".join(w.text for w in self.widths)


def width(index: Expr, counts: Mapping[str, Factors], spread: int) -> Width | None:
    """The width of a subscript over the loops in `counts`; None where it is not affine in them."""
    p = poly(index)
    terms = []
    for var, factors in counts.items():
        if not p.mentions(var):
            continue
        c = linear(p, var)
        if c is None:
            return None
        terms.append((abs(c), factors))
    return Width(tuple(terms), spread)


def linear(p: Poly, var: str) -> int | None:
    """The constant that `var` is multiplied by in `p`; None where it occurs in another way."""
    c, rest = p.coefficient(var).value, p.without(var)
    if c is None or rest + p.coefficient(var) * poly(Var(var)) != p:
        return None
    return c


def spread(indices: Iterable[Expr]) -> int | None:
    """How far several subscripts are apart: the greatest distance, None where it is no number."""
    every = [poly(i) for i in indices]
    gaps = [(p - every[0]).value for p in every]
    known = [g for g in gaps if g is not None]
    return max(known) - min(known) if len(known) == len(gaps) else None
