"""What devices compute less accurately than C does.

Arithmetic is the same to the last bit, but for quotients and square roots of floats, which a device
may round in its own way, and for functions, whose errors OpenCL bounds.
"""

from __future__ import annotations

from collections.abc import Iterator

from loopxform.ir.functions import base_name
from loopxform.ir.nodes import Assign, Bin, Call, Function, Stmt
from loopxform.ir.routines import expressions, in_order, lines
from loopxform.ir.routines import symbols as routine_symbols
from loopxform.ir.types import DOUBLE, FLOAT
from loopxform.ir.typing import all_types, symbols, type_of
from loopxform.ir.visit import stmt_exprs, walk, walk_expr
from loopxform.source import Loc

# fmt: off
ULPS = {
    "acos": 4, "acosh": 4, "asin": 4, "asinh": 4, "atan": 5, "atan2": 6, "atanh": 5, "cbrt": 2,
    "cos": 4, "cosh": 4, "erf": 16, "erfc": 16, "exp": 3, "exp2": 3, "expm1": 3, "hypot": 4,
    "lgamma": 64, "log": 3, "log10": 3, "log1p": 2, "log2": 3, "pow": 16, "sin": 4, "sinh": 4,
    "tan": 5, "tanh": 5, "tgamma": 16,
}
# fmt: on
"""How far a device may be from the exact value, in units in the last place (OpenCL C 1.2, section
7.4). The others (`fabs`, `fma`, `floor`, ...) are exact; of `lgamma` OpenCL says nothing."""

DIVIDING = ("/", "sqrtf")
RELAXABLE = frozenset([*DIVIDING, "fabsf"])
UNROUNDED = {"/": 3, "sqrt": 3}
"""For floats, where these are not rounded correctly."""


def computed(
    fn: Function, body: tuple[Stmt, ...] | None = None
) -> Iterator[tuple[str, Loc | None]]:
    """The functions that `fn`, or a part of it, and what it calls compute, and `/` of floats;
    where."""
    own, body = symbols(fn), fn.body if body is None else body
    for _, s in walk(body):  # x /= y
        if isinstance(s, Assign) and s.op == "/" and type_of(s.target, own) == FLOAT:
            yield "/", s.origin.loc
    for r in in_order(fn.routines):
        types = routine_symbols(r)
        for x in lines(r.body):
            if isinstance(x, Assign) and x.op == "/" and type_of(x.target, types) == FLOAT:
                yield "/", None
    statements = [(x, s.origin.loc) for _, s in walk(body) for x in stmt_exprs(s)]
    bodies = [(e, own, loc) for x, loc in statements for e in walk_expr(x)]
    called = [(e, routine_symbols(r), None) for r in in_order(fn.routines) for e in expressions(r)]
    for e, types, loc in (*bodies, *called):
        match e:
            case Call(name):
                yield name, loc
            case Bin("/") if type_of(e, types) == FLOAT:
                yield "/", loc


def inexact(fn: Function) -> Iterator[str]:
    """Those that devices compute in their own ways."""
    for name, _ in computed(fn):
        if name in DIVIDING or base_name(name) in ULPS:
            yield name


def is_relaxable(fn: Function) -> bool:
    """Whether quotients and square roots of floats are all that a device computes in another way
    where it need not keep to IEEE 754: there are some, no doubles, and no other functions, of which
    OpenCL bounds the errors otherwise."""
    names = {name for name, _ in computed(fn)}
    return not names.isdisjoint(DIVIDING) and names <= RELAXABLE and DOUBLE not in all_types(fn)


def divides_floats(fn: Function) -> bool:
    """Whether it has quotients or square roots of floats."""
    return any(name in DIVIDING for name, _ in computed(fn))
