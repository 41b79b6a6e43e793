"""Expressions of both programs in one form: names of operations, conversions, and what is the same
whatever its writing."""

from __future__ import annotations

import math
from collections.abc import Sequence, Set
from typing import Any

import islpy as isl
import numpy as np

from loopxform.validate.ctypes import BOOL, DOUBLE, FLOAT, INT, CType, common
from loopxform.validate.model import (
    Cases,
    Expr,
    Fold,
    Gather,
    Number,
    Operation,
    Read,
    Scalar,
    Symbol,
    Undefined,
    Whole,
    operands_of,
)
from loopxform.validate.polynomials import ONE, Polynomial, constant_of

COMPARED = {
    "<": "lt_set",
    "<=": "le_set",
    ">": "gt_set",
    ">=": "ge_set",
    "==": "eq_set",
    "!=": "ne_set",
}
COMMUTATIVE = frozenset(("+", "*", "==", "!=", "&", "|", "^"))
_TURNED = {">": "<", ">=": "<="}
_FUNCTIONS = {
    1: "sqrt exp exp2 log log2 log10 sin cos tan asin acos atan sinh cosh tanh fabs floor ceil "
    "trunc round rint cbrt erf erfc expm1 log1p exp10 tgamma lgamma rsqrt",
    2: "pow fmin fmax fmod atan2 hypot copysign fdim remainder nextafter",
    3: "fma",
}
"""Of numbers of one type, by how many they take."""
_TAKES = {name: count for count, names in _FUNCTIONS.items() for name in names.split()}
_WHOLE = {"abs": 1, "labs": 1, "llabs": 1, "min": 2, "max": 2, "popcount": 1}


def operation(name: str, operands: Sequence[Expr], type: CType) -> Expr:
    """An operation, in the form that its equals have."""
    operands = tuple(operands)
    if name in _TURNED:
        name, operands = _TURNED[name], operands[::-1]
    if name == "!":
        (x,) = operands
        if isinstance(x, Operation) and x.name == "!":
            return truth(x.operands[0], _zero_like(x.operands[0]))
        if isinstance(x, Operation) and x.name in ("==", "!="):
            return Operation("!=" if x.name == "==" else "==", x.operands, INT)
    if name == "?:":
        condition, a, b = operands
        if isinstance(condition, Operation) and condition.name == "!":
            condition, a, b = condition.operands[0], b, a
            operands = condition, a, b
        if isinstance(condition, Operation) and condition.name in ("<", "<=") and type.whole:
            x, y = condition.operands
            if same(x, a) and same(y, b):
                return Operation("min", (a, b), type)
            if same(x, b) and same(y, a):
                return Operation("max", (a, b), type)
    return folded(name, operands, type) or Operation(name, operands, type)


def folded(name: str, operands: Sequence[Expr], type: CType) -> Number | None:
    """Arithmetic of numbers, rounded as C rounds it."""
    if name not in ("+", "-", "*", "/", "cast") or type.kind != "float":
        return None
    values = [x.value for x in operands if isinstance(x, Number)]
    if len(values) != len(operands):
        return None
    if name == "cast":
        return number(values[0], type)
    kind = {32: np.float32, 64: np.float64}.get(type.bits)
    return None if kind is None else Number(_rounded(name, kind, *values), type)


def _rounded(name: str, kind: Any, x: float, y: float) -> float:
    """What an operation makes of two numbers of a type of NumPy's."""
    a, b = kind(x), kind(y)
    with np.errstate(all="ignore"):
        return float({"+": a + b, "-": a - b, "*": a * b, "/": np.divide(a, b)}[name])


def _zero_like(e: Expr) -> Expr:
    return Number(0.0, e.type)


def boolean(e: Expr, flags: Set[str] = frozenset()) -> bool:
    """Whether it is 0 or 1, where these arrays hold nothing else."""
    if isinstance(e, Cases):
        return all(boolean(x, flags) for _, x in e.pieces)
    if isinstance(e, Undefined):
        return True  # nothing may read it
    if isinstance(e, Whole):
        return e.value.affine is not None and constant_of(e.value.affine) in (0, 1)
    if isinstance(e, Read | Gather):
        return e.type == BOOL or e.array in flags
    if isinstance(e, Operation) and e.name == "?:":
        return all(boolean(x, flags) for x in e.operands[1:])
    return isinstance(e, Operation) and (
        e.name in COMPARED or e.name in ("!", "&&", "||") or e.type == BOOL
    )


def zero_valued(e: Expr) -> bool:
    """Whether it is the number 0."""
    if isinstance(e, Whole):
        return set(e.value.terms) <= {ONE} and constant_of(e.value.terms[ONE]) == 0
    return isinstance(e, Number) and e.value == 0


def truth(e: Expr, zero: Expr) -> Expr:
    """As a condition."""
    if boolean(e):
        return e
    if not e.type.whole:
        zero = Number(0.0, e.type)
    return operation("!=", (e, zero), INT)


def number(value: float, type: CType) -> Number:
    if type == FLOAT:
        return Number(float(np.float32(value)), type)
    return Number(float(value), type)


def negated(e: Expr, op: str, type: CType) -> Expr:
    if isinstance(e, Number):
        return Number(-e.value, e.type)
    return Operation("neg" if op == "-" else op, (e,), type)


def converted(e: Expr, of: CType, to: CType, zero: Expr) -> Expr:
    """As C converts a value; what keeps every value is left out."""
    if of == to:
        return e
    if to == BOOL:
        return truth(e, zero)
    if to.whole and of.whole and (to.holds(of) or boolean(e)):
        return e
    if isinstance(e, Number) and to.kind == "float":
        return number(e.value, to)
    return operation("cast", (e,), to)


def library(name: str, types: Sequence[CType], kernel: bool) -> tuple[str, CType, CType] | None:
    """The name, what it returns and what it takes, for a function of C's or OpenCL's library."""
    wide = types[0] if types else INT
    for t in types[1:]:
        wide = common(wide, t)
    if name in _WHOLE and len(types) == _WHOLE[name] and (kernel or name != "min"):
        return (name.lstrip("l"), wide, wide) if wide.whole else None
    if _TAKES.get(name) == len(types):
        type = wide if kernel and wide.kind == "float" else DOUBLE
        return name, type, type
    if name.endswith("f") and _TAKES.get(name[:-1]) == len(types) and not kernel:
        return name[:-1], FLOAT, FLOAT
    return None


INFINITE = {
    "__builtin_inff": FLOAT, "__builtin_inf": DOUBLE, "__builtin_huge_valf": FLOAT,
    "__builtin_huge_val": DOUBLE, "INFINITY": FLOAT, "HUGE_VALF": FLOAT, "HUGE_VAL": DOUBLE,
}  # fmt: skip


def infinity(name: str) -> tuple[Number, CType]:
    return Number(float("inf"), INFINITE[name]), INFINITE[name]


def floating(text: str) -> float:
    text = text.rstrip("fFlL")
    return float.fromhex(text) if text.lower().startswith("0x") else float(text)


def character(text: str) -> int:
    body = text.strip("'")
    return ord(body.encode().decode("unicode_escape"))


def named(e: Expr, name: isl.Id) -> Expr:
    """Of the statement with this tuple: what depends on instances says so."""
    match e:
        case Read():
            return Read(e.array, e.cells.set_tuple_id(isl.dim_type.in_, name), e.type, e.line)
        case Whole():
            terms = {m: v.set_tuple_id(isl.dim_type.in_, name) for m, v in e.value.terms.items()}
            return Whole(Polynomial(terms), e.type)
        case Gather():
            return Gather(e.array, named(e.index, name), e.type, e.line, e.site)
        case Operation():
            return Operation(e.name, tuple(named(x, name) for x in e.operands), e.type)
        case Fold():
            begins, ends = (tuple(named(x, name) for x in part) for part in (e.begins, e.ends))
            condition, stopped = named(e.condition, name), named(e.stopped, name)
            return Fold(e.names, begins, condition, stopped, ends, e.type)
        case Cases():
            pieces = tuple((w.set_tuple_id(name), named(x, name)) for w, x in e.pieces)
            return Cases(pieces, e.type)
    return e


def turned(x: Operation, y: Operation) -> bool:
    """Whether the operands stand the other way round, as far as their kinds tell."""
    first, second = (_kind(e) for e in x.operands)
    third, fourth = (_kind(e) for e in y.operands)
    return first != second and (first, second) == (fourth, third)


def _kind(e: Expr) -> str:
    match e:
        case Operation():
            return e.name
        case Read() | Gather():
            return "read"
    return type(e).__name__


def described(e: Expr | None, array: str) -> str:
    """In words; without an expression it is what an array held at the start."""
    match e:
        case None:
            return f"what {array} held at the start"
        case Operation():
            return {"?:": "a choice", "cast": f"a conversion to {e.type.kind}{e.type.bits}"}.get(
                e.name, f"{e.name}"
            )
        case Undefined():
            return "what nothing was stored to"
        case Number():
            return f"the number {e.value:g}"
        case Whole():
            return "a whole number"
        case Scalar():
            return e.name
        case Gather():
            return f"an element of {e.array} that data name"
    return "a value"


def same_number(a: float, b: float) -> bool:
    """To the last bit, but for which NaN it is."""
    return (a != a and b != b) or (a == b and math.copysign(1, a) == math.copysign(1, b))


def same(a: Expr, b: Expr) -> bool:
    """Whether two expressions of one statement are written alike."""
    if type(a) is not type(b) or a.type != b.type:
        return False
    if isinstance(a, Read) and isinstance(b, Read):
        return a.array == b.array and bool(a.cells.is_equal(b.cells))
    if isinstance(a, Whole) and isinstance(b, Whole):
        return a.value.terms.keys() == b.value.terms.keys() and all(
            bool(v.is_equal(b.value.terms[m])) for m, v in a.value.terms.items()
        )
    if isinstance(a, Number) and isinstance(b, Number):
        return a.value == b.value
    if isinstance(a, Scalar | Symbol) and isinstance(b, Scalar | Symbol):
        return a.name == b.name
    if isinstance(a, Operation) and isinstance(b, Operation) and a.name != b.name:
        return False
    if isinstance(a, Gather) and isinstance(b, Gather) and a.array != b.array:
        return False
    if isinstance(a, Cases | Fold):
        return False
    x, y = operands_of(a), operands_of(b)
    return len(x) == len(y) and all(map(same, x, y))
