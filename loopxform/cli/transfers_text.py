"""What is copied between the host and the device, and why: `in`, `out` and `kept`, a line each."""

from __future__ import annotations

from collections.abc import Iterator

from loopxform.cli.users_names import UsersNames
from loopxform.codegen.host.buffers import Buffer, Part
from loopxform.codegen.host.temporaries import NEVER
from loopxform.codegen.plan import Plan
from loopxform.frontend.lower.facts import follows
from loopxform.ir.affine import simplify
from loopxform.ir.nodes import Bin, Const, Expr
from loopxform.ir.printer import expr_text
from loopxform.transforms.edges.bounds import conjunction, conjuncts


def lines(plan: Plan, users: UsersNames) -> Iterator[str]:
    """Every array that the kernels use, once for all of them."""
    for direction, b, text in _moved(plan):
        name = users.of_arguments(b.param.name)
        yield f"  {direction:<9} {name:<18} {users.of_arguments(text)}"


def _moved(plan: Plan) -> Iterator[tuple[str, Buffer, str]]:
    for b in plan.buffers:
        if b.into is not None:
            yield ("in", b, f"{_amount(b, b.into)}: {_reason(b)}")
        elif b.written and b.back is None:
            yield ("kept", b, f"on the device only, as it is scratch: {_bytes(b, b.count)}")
        elif b.written:
            yield ("in", b, "nothing: what is read was written before")
        if b.back is not None:
            yield ("out", b, _amount(b, b.back))
    for b in (b for b in plan.temporaries if b.when != NEVER):
        yield ("kept", b, f"on the device only: {_bytes(b, b.count)}")


def _reason(b: Buffer) -> str:
    if not b.written:
        return "read"
    return "read before it is written" if b.exposed else "what is not written keeps its value"


def _amount(b: Buffer, part: Part) -> str:
    """`elements 1 to n - 2, 4*n - 8 bytes, where n >= 3`."""
    place = "" if b.is_whole(part) or part.place is None else f"{_place(b, part)}, "
    asked = _strongest([c for e in (b.when, part.when) if e is not None for c in conjuncts(e)])
    where = f", where {expr_text(conjunction(asked))}" if asked else ""
    return f"{place}{_bytes(b, Bin('-', part.end, part.begin))}{where}"


def _strongest(conditions: list[Expr]) -> list[Expr]:
    """Without `n >= 1` where `n >= 2` is asked too."""
    kept = list(dict.fromkeys(conditions))
    for c in conditions:
        others = [x for x in kept if x != c]
        if follows(c, others):
            kept = others
    return kept


def _place(b: Buffer, part: Part) -> str:
    """From the first element to the last; rows where they are whole."""
    assert part.place is not None
    first, last = part.place
    if len(first) == 1:
        return f"elements {expr_text(first[0])} to {expr_text(last[0])}"
    ends = (simplify(Bin("-", size, Const(1))) for size in b.param.shape[1:] if size is not None)
    if all(e == Const(0) for e in first[1:]) and last[1:] == tuple(ends):
        return f"rows {expr_text(first[0])} to {expr_text(last[0])}"
    return f"{_element(first)} to {_element(last)}"


def _element(index: tuple[Expr, ...]) -> str:
    return "".join(f"[{expr_text(i)}]" for i in index)


def _bytes(b: Buffer, count: Expr) -> str:
    return f"{expr_text(simplify(Bin('*', Const(b.param.type.bytes), count)))} bytes"
