"""linear(x: c): a variable that each iteration advances by a constant, once.

    for i = lo, lo + s, ..: { A; x += c; B }  ->  A with x + c*(i - lo)/s for x, B with one c more

Paths stay what they are: an empty branch stands where the variable was advanced.
"""

from __future__ import annotations

from dataclasses import replace

from loopxform.analysis.domain import names_of
from loopxform.ir.affine import simplify, value_of
from loopxform.ir.nodes import Assign, Bin, Const, Expr, For, Function, If, Stmt, Var
from loopxform.ir.visit import Path, at, replace_at, substitute_body, walk


def advance(fn: Function, path: Path, name: str) -> tuple[int, int] | None:
    """Which statement of the body advances the integer `name`, and by what; None where it is not
    just that."""
    loop = at(fn, path)
    type = names_of(fn).types.get(name)
    if not isinstance(loop, For) or type is None or not type.is_integer:
        return None
    found = None
    for p, s in walk(loop.body):
        if isinstance(s, For) and s.var == name:
            return None
        if not (isinstance(s, Assign) and isinstance(s.target, Var) and s.target.name == name):
            continue
        step = _added(s, name)
        if found is not None or len(p) != 1 or step is None:
            return None
        found = (p[0], step)
    return found


def _added(s: Assign, name: str) -> int | None:
    """c where the statement is `name += c` in any form."""
    if s.op in ("+", "-"):
        value = value_of(s.value)
        return value if value is None or s.op == "+" else -value
    match s.value:
        case Bin("+" | "-" as op, Var(x), e) if not s.op and x == name:
            value = value_of(e)
            return value if value is None or op == "+" else -value
        case Bin("+", e, Var(x)) if not s.op and x == name:
            return value_of(e)
        case _:
            return None


def closed_form(fn: Function, path: Path, name: str) -> Function | None:
    """The function with `name` written as what it is in each iteration, which leaves it alone."""
    loop = at(fn, path)
    assert isinstance(loop, For)
    found = advance(fn, path, name)
    stride = value_of(loop.step)
    if found is None or stride not in (1, -1):
        return None
    n, step = found
    distance: Expr = Bin("-", Var(loop.var), loop.lo)
    before = Bin("+", Var(name), Bin("*", Const(step * stride), distance))
    after = Bin("+", before, Const(step))
    body = loop.body
    nothing: Stmt = If(Const(1), (), (), origin=body[n].origin)
    new = (
        *substitute_body(body[:n], {name: simplify(before)}),
        nothing,
        *substitute_body(body[n + 1 :], {name: simplify(after)}),
    )
    return replace_at(fn, path, (replace(loop, body=new),))
