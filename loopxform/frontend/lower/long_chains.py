"""Sums of hundreds of terms in parts: x = a + b + c + ...  ->  float x_part; x_part = a + b + ...;
x = x_part + c + ...

What reads expressions goes down into them, and may not go down hundreds of levels. C adds up the
terms from left to right, in the type of the sum so far, which is that of the part: all is computed
as before.
"""

from __future__ import annotations

from collections.abc import Iterator

from loopxform.ir.nodes import Assign, Bin, Decl, Expr, Stmt, Var
from loopxform.ir.types import HALF, Scalar, common
from loopxform.ir.typing import type_of
from loopxform.source import Origin

TERMS = 96
"""Of a part."""


def in_parts(
    value: Expr, name: str, types: dict[str, Scalar], origin: Origin
) -> tuple[list[Stmt], Expr]:
    """The statements that compute the first terms of a long sum or product, and what is left of it,
    in terms of variables that begin with `name` and are new among `types`."""
    chain = [*_chain(value)]
    before, kinds = list[Stmt](), [type_of(x.right, types) for x in chain]
    if len(chain) <= TERMS:
        return before, value
    out = chain[-1].left
    type = type_of(out, types)
    if HALF in (type, *kinds):
        return before, value
    for n, (x, kind) in enumerate(zip(reversed(chain), reversed(kinds))):
        if n and n % TERMS == 0:
            part = _free(f"{name}_part", types)
            types[part] = type
            before.append(Decl(part, type, origin=origin))
            before.append(Assign(Var(part), out, origin=origin))
            out = Var(part)
        out, type = Bin(x.op, out, x.right, origin=x.origin), common(type, kind)
    return before, out


def _chain(e: Expr) -> Iterator[Bin]:
    """The operations along the left side of an expression, the last one first."""
    while isinstance(e, Bin) and e.op in ("+", "-", "*", "/"):
        yield e
        e = e.left


def _free(wanted: str, types: dict[str, Scalar]) -> str:
    name, n = wanted, 2
    while name in types:
        name, n = f"{wanted}_{n}", n + 1
    return name
