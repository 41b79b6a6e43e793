"""Partial results of a reduction: their type, what they begin with, and how they are combined.

+ * & | ^    in an unsigned type as wide as any operand: the low bits are those of the whole
&& ||        in int, where no operand is left out on account of the one before
min max      in the type itself, from the end of it, or an infinity; fmin and fmax from NaN
argmin argmax  the place of an extremum, in its own type: it is taken over with the extremum of its
             part, in the order of the parts; a part that finds none begins with any
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from loopxform.analysis.abstract_values import limits
from loopxform.analysis.reductions import Reduction
from loopxform.ir.nodes import (
    Assign,
    Bin,
    Call,
    Const,
    Decl,
    Expr,
    Function,
    If,
    Load,
    Opaque,
    Select,
    Stmt,
    Un,
    Var,
)
from loopxform.ir.types import BOOL, INT, UINT, ULONG, Scalar, common
from loopxform.ir.typing import symbols, type_of
from loopxform.ir.updates import CALLS
from loopxform.ir.visit import (
    children,
    declared,
    map_body,
    map_expr,
    map_stmt_exprs,
    stmt_exprs,
    walk,
    walk_expr,
)

ROUNDED = {"+": "addition", "*": "multiplication"}
"""Floating-point operations that are not associative."""

PLACES = ("argmin", "argmax")
"""Places of extrema."""

NEUTRAL = {"+": 0, "*": 1, "|": 0, "^": 0, "&&": 1, "||": 0}

COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")

Operand = tuple[Assign | If, Expr]
"""An update of a reduction, and its operand."""

Types = dict[str, Scalar]


def rounded(name: str, op: str, types: Types) -> str:
    """Why the operator is not associative ("": it is)."""
    if not types[name].is_float or op not in ROUNDED:
        return ""
    return f"floating-point {ROUNDED[op]} is not associative: '{name}' would be rounded differently"


def may_find_nothing(update: If, *, always: bool, found: Scalar) -> bool:
    """Whether parts that follow one another must say whether they found a place: where the last of
    equal values counts, one with NaN alone, or that compares under a condition (not `always`), must
    not replace what those before it have found."""
    strict = isinstance(update.cond, Bin) and update.cond.op in ("<", ">")
    return not strict and (found.is_float or not always)


def is_compared_only(fn: Function, r: Reduction) -> bool:
    """Whether nothing but comparisons uses a scalar of the function, besides its own updates: the
    sign of a zero does not show in them."""
    decl = declared(fn.body).get(r.var)
    statements = list(walk(fn.body))
    if decl is None or decl.shape or any(isinstance(s, Opaque) for _, s in statements):
        return False
    others = (s for p, s in statements if p not in r.paths)
    return not any(_shows(e, r.var) for s in others for e in _used(s))


def _used(s: Stmt) -> tuple[Expr, ...]:
    """The expressions of a statement, but for a scalar that it only sets."""
    if isinstance(s, Assign) and isinstance(s.target, Var) and not s.op:
        return (s.value,)
    return stmt_exprs(s)


def _shows(e: Expr, name: str) -> bool:
    """Whether a scalar is used other than as an operand of a comparison."""
    if isinstance(e, Var):
        return e.name == name
    if isinstance(e, Bin) and e.op in COMPARISONS:
        return any(_shows(x, name) for x in (e.left, e.right) if x != Var(name))
    return any(_shows(x, name) for x in children(e))


def unordered(name: str, op: str, found: Sequence[Operand], types: Types) -> str:
    """Why updates that are associative do not commute ("": they do). Which zero fmin and fmax give
    is free in C; a comparison keeps the first."""
    compared = any(not (isinstance(s, Assign) and isinstance(s.value, Call)) for s, _ in found)
    if not (types[name].is_float and op in ("min", "max") and compared):
        return ""
    return f"of zeros with different signs '{name}' would be another than the first"


def inseparable(
    name: str, op: str, found: Sequence[Operand], types: Types
) -> tuple[str, str] | None:
    """Why the updates of `name` cannot be done in parts, and what to do instead."""
    own = types[name]
    if op in PLACES:
        return None
    if op in ("&&", "||") and any(_skipped(name, s, e) for s, e in found):
        return (
            f"an operand is computed only where those before it leave {op} open",
            f"write it first: {name} = e {op} {name}",
        )
    if op not in ("min", "max"):
        return None
    if not all(_holds(own, type_of(e, types)) for _, e in found):
        return f"an operand is converted to {own}", f"convert it first, and compare the {own}"
    if own.is_float and len(found) > 1:
        return "it is updated more than once", "combine the operands first"
    if own.is_float and any(_takes_nan(name, s) for s, _ in found):
        return (
            "a NaN replaces what was found before",
            "take the operand where the comparison holds: e > s ? e : s",
        )
    return None


def _holds(own: Scalar, operand: Scalar) -> bool:
    """Whether an integer type has all values of an operand, so that both compare alike; of real
    numbers, which functions may round, whether it is the same."""
    if not (own.is_integer and operand.is_integer):
        return operand == own
    (low, high), (least, most) = limits(own), limits(operand)
    return low <= least and most <= high


def is_truth(fn: Function, name: str) -> bool:
    """Whether a scalar is never anything but 0 and 1: all it is set to is a truth value."""
    if symbols(fn)[name].kind == "bool":
        return True
    own = any(isinstance(s, Decl) and s.name == name for _, s in walk(fn.body))
    set_to = [s for _, s in walk(fn.body) if isinstance(s, Assign) and s.target == Var(name)]
    return own and all(not s.op and _truth(s.value) for s in set_to)


def _truth(e: Expr) -> bool:
    match e:
        case Const(value):
            return value in (0, 1)
        case Bin(op):
            return op in ("<", "<=", ">", ">=", "==", "!=", "&&", "||")
        case Un(op):
            return op == "!"
        case _:
            return False


def partial_type(name: str, op: str, found: Sequence[Operand], types: Types) -> Scalar:
    """The type in which a part is reduced."""
    own = types[name]
    if op in ("min", "max", *PLACES) or own.is_float or (own is BOOL and op == "^"):
        return own
    if op in ("&&", "||"):
        return INT
    wide = own
    for _, e in found:
        wide = common(wide, type_of(e, types))
    return ULONG if common(wide, INT).bytes == 8 else UINT


def neutral(op: str, found: Sequence[Operand], part: Scalar) -> Const:
    """What a part begins with: a sum of floats with -0.0, which leaves -0.0 as it is (0.0 does
    not)."""
    if op == "+" and part.is_float:
        return Const(-0.0, part)
    if op in PLACES:
        return Const(0.0 if part.is_float else 0, part)
    if op in CALLS:
        return Const(math.nan, part)
    if op in NEUTRAL:
        return Const(float(NEUTRAL[op]) if part.is_float else NEUTRAL[op], part)
    bits = 8 * part.bytes
    if op == "&":
        return Const((1 << bits) - 1 if part.is_unsigned else -1, part)
    if part.is_float:
        by_call = any(isinstance(s, Assign) and isinstance(s.value, Call) for s, _ in found)
        return Const(math.nan if by_call else math.inf if op == "min" else -math.inf, part)
    low = 0 if part.is_unsigned else -(1 << (bits - 1))
    high = (1 << (1 if part.kind == "bool" else bits if part.is_unsigned else bits - 1)) - 1
    return Const(high if op == "min" else low, part)


def combined(name: str, op: str, found: Sequence[Operand], part: Load | Var, label: str) -> Stmt:
    """The update of `name` by a partial result. An extremum is updated as in the loop, so that of
    equal values the same one stays."""
    if op in ("&&", "||"):
        return Assign(Var(name), Bin(op, part, Var(name)), label=label)
    if op not in ("min", "max"):
        return Assign(Var(name), part, op, label=label)
    update, operand = found[0]

    def put(e: Expr) -> Expr:
        return part if e == operand else e

    (made,) = map_body((update,), lambda s: (map_stmt_exprs(s, put),))
    return made


def combined_place(update: If, operand: Expr, parts: Mapping[str, Load], label: str) -> Stmt:
    """The update of an extremum and its places by those of a part, by name."""
    (best,) = (s for s in update.then if isinstance(s, Assign) and s.value == operand)
    assert isinstance(best.target, Var)
    part = parts[best.target.name]
    cond = map_expr(update.cond, lambda e: part if e == operand else e)
    then = []
    for s in update.then:
        assert isinstance(s, Assign)
        assert isinstance(s.target, Var)
        name = s.target.name
        then.append(replace(s, value=parts[name], label=f"{label}_{name}"))
    return replace(update, cond=cond, then=tuple(then))


def _skipped(name: str, s: Assign | If, e: Expr) -> bool:
    """Whether the operand is computed under a condition on the reduction, and more than a scalar
    or a sum of them: it might not exist, or divide by zero."""
    value = s.value if isinstance(s, Assign) and not s.op else None
    first = isinstance(value, Bin) and value.right == Var(name)
    risky = any(
        isinstance(x, Load | Call) or (isinstance(x, Bin) and x.op in ("/", "%"))
        for x in walk_expr(e)
    )
    return risky and not first


def _named(e: Expr) -> tuple[str, ...]:
    """The scalar or the array that an expression is, or is an element of."""
    return (e.name,) if isinstance(e, Var) else (e.array,) if isinstance(e, Load) else ()


def _takes_nan(name: str, s: Assign | If) -> bool:
    """`s < e ? s : e` gives e where the comparison is false, as it is with a NaN."""
    return isinstance(s, Assign) and isinstance(s.value, Select) and name in _named(s.value.then)
