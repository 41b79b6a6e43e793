"""Expressions as C or OpenCL C text: the parentheses a compiler needs and the types C gives.

Subscripts print as `A[i][k]`, or as `A[(ptrdiff_t)i*n + k]` where the array is a plain pointer.
Comparisons that mix signedness get the conversion C does implicitly written out, so that the text
compiles without warnings. OpenCL text spells types and functions the OpenCL way and keeps the
meaning of the C expression (`sqrt` of a float is the double function in C).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import field
from typing import assert_never

from loopxform.codegen import ahead
from loopxform.codegen.literals import PRIMARY, UNARY, Language, Text, const, floating, type_name
from loopxform.codegen.opencl import halves, quick_quotients, quotients, root_quotients
from loopxform.codegen.row_major import row_major
from loopxform.codegen.structs import NOT_NULL, Place, c_text, places
from loopxform.errors import EmitError
from loopxform.ir.affine import value_of
from loopxform.ir.constants import half
from loopxform.ir.functions import CLASSES, INTEGER, ROUNDED, base_name, parameters
from loopxform.ir.nodes import (
    Assign,
    Bin,
    Call,
    Cast,
    Const,
    Expr,
    Function,
    Load,
    Select,
    Tile,
    Un,
    Var,
)
from loopxform.ir.routines import BIT_CASTS
from loopxform.ir.types import BOOL, FLOAT, HALF, Scalar, common, promote
from loopxform.ir.typing import symbols, type_of
from loopxform.ir.updates import updated
from loopxform.records import record

BINARY = {
    "*": 13,
    "/": 13,
    "%": 13,
    "+": 12,
    "-": 12,
    "<<": 11,
    ">>": 11,
    "<": 10,
    ">": 10,
    "<=": 10,
    ">=": 10,
    "==": 9,
    "!=": 9,
    "&": 8,
    "^": 7,
    "|": 6,
    "&&": 5,
    "||": 4,
}
CONDITIONAL = 3
COMPARE = frozenset(["<", ">", "<=", ">=", "==", "!="])
SIGN_MATTERS = COMPARE | {"min", "max"}
COMPOUND = frozenset(["", "+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>"])


@record
class Dialect:
    """What the text of an expression depends on besides the expression.

    `types` gives the scalar or element type of every name; `linear` the shape of each array that
    is addressed through a plain pointer (its first dimension may be None); `offset` the type in
    which such an address is computed (of the arrays `narrow`: an int); `names` what is called
    otherwise in the text, `places` where the elements of members of structs are, `packed` which
    arrays hold the bits of halves, `thresholds` the variables that hold those by name,
    `approximate` says that quotients by roots may be as accurate as the device has them, `quick`
    names the flags of a loop without their rare cases, `ahead` says that the program may not get to
    what is computed: quotients stop no processor, and are 0 by 0. A code generator that stores an
    array in its own way overrides `load`.
    """

    language: Language = "c"
    types: dict[str, Scalar] = field(default_factory=dict)
    linear: Mapping[str, tuple[Expr | None, ...]] = field(default_factory=dict)
    offset: str = "ptrdiff_t"
    narrow: frozenset[str] = frozenset()
    names: Mapping[str, str] = field(default_factory=dict)
    places: Mapping[str, Place] = field(default_factory=dict)
    packed: frozenset[str] = frozenset()
    thresholds: Mapping[str, str] = field(default_factory=dict)
    approximate: bool = False
    quick: quick_quotients.Quick | None = None
    ahead: bool = False

    def type_name(self, t: Scalar) -> str:
        """The spelling of a type. OpenCL has no bool in memory: there it is a uchar of 0 or 1; a
        half is computed with as a float."""
        return type_name(t, self.language)

    def counter_type(self, t: Scalar) -> str:
        """That of a loop variable of a kernel: the last work-items and strides go beyond the end of
        the user's loop, where a type narrower than int may have no number."""
        return self.type_name(promote(t))

    def update(self, s: Assign) -> str:  # noqa: ARG002
        """The call that updates an element in one piece; "" where an assignment does."""
        return ""

    def name(self, name: str) -> str:
        """The text of a scalar or an array."""
        return self.names.get(name, name)

    def dot(self, at: Place) -> str:
        """What stands between a struct and its member."""
        return "->" if self.language == "opencl" and not at.struct.array else "."

    def member(self, name: str) -> str:
        """The name of a member of a struct."""
        return name

    def load(self, e: Load) -> str:
        """The text of an array element, a primary expression."""
        shape = self.linear.get(e.array)
        at = self.places.get(e.array)
        if at is None:
            few = e.array in self.narrow
            return self.name(e.array) + self._index(e.index, shape, narrow=few)
        used = at.rank(len(e.index))
        text, dot = self.name(at.struct.name) + self._index(e.index[:used], shape), self.dot(at)
        for m in at.path:
            index = e.index[used : used + len(m.shape)]
            text += dot + self.member(m.name) + self._index(index, None)
            dot, used = ".", used + len(m.shape)
        return text

    def _index(
        self,
        index: tuple[Expr, ...],
        shape: tuple[Expr | None, ...] | None,
        *,
        narrow: bool = False,
    ) -> str:
        if shape is None or len(index) < 2:
            return "".join(f"[{expr(i, self)}]" for i in index)
        return f"[{self._address(self.offset_type(narrow=narrow), *row_major(index, shape))}]"

    def offset_type(self, *, narrow: bool) -> str:
        """The cast of what an offset begins with: none where an int holds every offset."""
        return "" if narrow else f"({self.offset})"

    def type_of(self, e: Expr) -> Scalar:
        return type_of(e, self.types)

    def _address(
        self, cast: str, index: tuple[Expr, ...], rows: tuple[tuple[Expr, ...], ...]
    ) -> str:
        """Row-major offset by Horner's rule: `((ptrdiff_t)i*n + j)*m + k`."""
        text = f"{cast}{expr(index[0], self, UNARY)}"
        for n, (position, row) in enumerate(zip(index[1:], rows)):
            text = f"({text})" if n else text
            length = "".join(f"*{expr(extent, self, UNARY)}" for extent in row)
            text = f"{text}{length} + {expr(position, self, BINARY['*'])}"
        return text


def dialect_of(fn: Function, language: Language = "c") -> Dialect:
    """The dialect for the text of `fn`: its types, its flat arrays linear. In OpenCL every array
    parameter is a pointer, so all of them are linear."""
    in_c = [p for p in fn.objects if p.declared and language == "c"]
    flat = language == "opencl"
    linear = {p.name: p.shape for p in fn.objects if p.shape and (p.flat or p.declared or flat)}
    linear |= {p.name: linear[p.of] for p in fn.objects if p.array and p.of in linear}
    inside = places(fn)
    names = {n: c_text(fn, n) for n in [p.name for p in fn.objects] + [s.name for s in fn.structs]}
    for p in in_c:
        names[p.name] = f"(({'const ' if p.const else ''}{p.type.c} *){names[p.name]})"
    return Dialect(language, symbols(fn), linear, names=names, places=inside)


def expr(e: Expr, dialect: Dialect, outer: int = 0) -> str:
    """The text of `e`, in parentheses where it binds weaker than `outer`."""
    text, level = _text(e, dialect)
    return f"({text})" if level < outer else text


def assign(s: Assign, dialect: Dialect) -> str:
    """`target op= value` without the semicolon, converting to the type of the target."""
    to = dialect.type_of(s.target)
    target = dialect.name(s.target.name) if isinstance(s.target, Var) else dialect.load(s.target)
    if s.atomic and (call := dialect.update(s)):
        return call
    converts = dialect.language == "opencl" and to in (BOOL, HALF)
    if s.op in COMPOUND and not converts:
        return f"{target} {s.op}= {expr(s.value, dialect)}"
    value = updated(s.op, s.target, s.value) if s.op else s.value
    if isinstance(s.target, Load):
        return f"{target} = {stored(value, s.target, dialect)}"
    return f"{target} = {converted(value, to, dialect)}"


def stored(e: Expr, into: Load, dialect: Dialect) -> str:
    """The text of `e` as it is stored into an element of an array."""
    if into.array in dialect.packed:
        return _bits(e, dialect)
    return converted(e, dialect.type_of(into), dialect)


def converted(e: Expr, to: Scalar, dialect: Dialect) -> str:
    """The text of `e` as it is stored into an object of type `to`."""
    own = dialect.type_of(e)
    if dialect.language == "c" or own == to:
        return expr(e, dialect)
    if to == BOOL:
        return expr(Bin("!=", e, Const(0)), dialect)
    return _rounded(e, dialect) if to == HALF else expr(e, dialect)


def _rounded(e: Expr, d: Dialect) -> str:
    """A value as the float that holds it rounded to a half, a primary expression."""
    known = half(e)
    if known is not None:
        return f"({text})" if (text := floating(known, HALF)[0]).startswith("-") else text
    return f"{halves.helper(halves.ROUND, d.type_of(e))}({expr(e, d)})"


def _bits(e: Expr, d: Dialect) -> str:
    """The bits of a value that is stored as a half."""
    known = half(e)
    if known is not None and not math.isnan(known):
        return halves.bits(known)
    match e:
        case Load(array) if array in d.packed:
            return d.load(e)
        case Select(cond, then, orelse) if d.type_of(e) == HALF:
            return f"{_condition(cond, d)} ? {_bits(then, d)} : {_bits(orelse, d)}"
        case _:
            return f"{halves.helper(halves.BITS, d.type_of(e))}({expr(e, d)})"


def _text(e: Expr, d: Dialect) -> Text:
    match e:
        case Const():
            return const(e, d.language)
        case Tile(name):
            return d.thresholds.get(name, name), PRIMARY
        case Var():
            return d.name(e.name), PRIMARY
        case Load(array) if array in d.packed:
            return f"{halves.VALUE}({d.load(e)})", PRIMARY
        case Load():
            return d.load(e), PRIMARY
        case Bin("min" | "max" as op, left, right):
            return _min_max(op, left, right, d)
        case Bin(">" | "<=", Var(name), Const(0)) if d.name(name).endswith(NOT_NULL):
            op = "!=" if e.op == ">" else "=="
            return f"{d.name(name)[1 : -len(NOT_NULL)]} {op} 0", BINARY[op]
        case Bin():
            return _binary(e, d)
        case Un(op, operand):
            inner = expr(operand, d, UNARY)
            return f"{op}({inner})" if inner[0] in "+-" else f"{op}{inner}", UNARY
        case Cast(to, operand):
            return _cast(to, operand, d)
        case Call(name, args, None):
            return _call(name, args, d)
        case Call(name, args):
            return f"{routine_name(name, d)}({', '.join(expr(a, d) for a in args)})", PRIMARY
        case Select(cond, then, orelse):
            to = d.type_of(e)
            parts = (_as(x, to, d, CONDITIONAL + 1) for x in (then, orelse))
            return f"{_condition(cond, d)} ? {' : '.join(parts)}", CONDITIONAL
        case _:
            assert_never(e)


def _condition(e: Expr, d: Dialect) -> str:
    """In front of a `?`, where OpenCL takes no floats."""
    if d.language == "opencl" and d.type_of(e).is_float:
        e = Bin("!=", e, Const(0))
    return expr(e, d, CONDITIONAL + 1)


def _binary(e: Bin, d: Dialect) -> Text:
    level = BINARY[e.op]
    left, right = e.left, e.right
    if e.op in SIGN_MATTERS:
        to = common(d.type_of(left), d.type_of(right))
        negated = isinstance(left, Un) and left.op == "!"
        parts = (
            _as(left, to, d, PRIMARY if negated else BINARY["<<"]),
            _as(right, to, d, BINARY["<<"]),
        )
        return f"{parts[0]} {e.op} {parts[1]}", level
    if e.op == "/" and (quotient := _by_constant(left, right, d) or _by_root(e, d) or _quick(e, d)):
        return quotient, PRIMARY
    if d.ahead and ahead.may_stop(e) and not d.type_of(e).is_float:
        return _ahead(e, d, level), PRIMARY
    bitwise = e.op in ("&", "|", "^", "<<", ">>")
    least = UNARY if bitwise else BINARY["|"] if e.op == "||" else level
    same = isinstance(left, Bin) and left.op == e.op
    parts = expr(left, d, level if same else least), expr(right, d, max(level + 1, least))
    if e.op == "*" and _tight(e):
        return f"{parts[0]}*{parts[1]}", level
    return f"{parts[0]} {e.op} {parts[1]}", level


def _ahead(e: Bin, d: Dialect, level: int) -> str:
    kind, minus = d.type_of(e), ""
    if not kind.is_unsigned and value_of(e.left) is None:
        name, operand = d.type_name(kind), expr(e.left, d, UNARY)
        minus = "0" if e.op == "%" else f"({name})(0 - (unsigned {name}){operand})"
    return ahead.quotient(e.op, expr(e.left, d, level), expr(e.right, d, level + 1), minus)


def _by_constant(left: Expr, right: Expr, d: Dialect) -> str:
    """A quotient of floats whose divisor is known; "" where it is none that is written so."""
    if not isinstance(right, Const) or d.language != "opencl":
        return ""
    if common(d.type_of(left), d.type_of(right)) != FLOAT:
        return ""
    return quotients.quotient(expr(left, d), float(right.value))


def _by_root(e: Bin, d: Dialect) -> str:
    """A quotient of floats by a square root, where the device's will do; "" for others."""
    found = root_quotients.by_root(e) if d.approximate else None
    if found is None or any(d.type_of(x) != FLOAT for x in (e, *found[1:])):
        return ""
    name, *operands = found
    return f"{name}({', '.join(expr(x, d) for x in operands)})"


def _quick(e: Bin, d: Dialect) -> str:
    """A quotient of floats without its rare cases; "" for others, and where they are asked for."""
    kinds = d.type_of(e.left), d.type_of(e.right)
    if d.quick is None or kinds != (FLOAT, FLOAT):
        return ""
    return d.quick.quotient(e.right, expr(e.left, d), expr(e.right, d))


def _tight(e: Expr) -> bool:
    """Products of names and numbers (`Ty*Ry`) are written without spaces."""
    match e:
        case Bin("*", left, right):
            return _tight(left) and _tight(right)
        case Const(value):
            return isinstance(value, int) and value >= 0
        case Tile() | Var():
            return True
        case _:
            return False


def _as(e: Expr, to: Scalar, d: Dialect, outer: int) -> str:
    """`e`, its conversion to the common type written out where that changes its signedness."""
    own = promote(d.type_of(e))
    if to.is_integer and own.is_unsigned != to.is_unsigned and not _is_positive(e):
        return expr(Cast(to, e), d, outer)
    return expr(e, d, outer)


def _is_positive(e: Expr) -> bool:
    """Whether every compiler sees a constant that no conversion changes."""
    value = value_of(e)
    return value is not None and value >= 0


def _min_max(op: str, left: Expr, right: Expr, d: Dialect) -> Text:
    """C: LX_MIN and LX_MAX of `HELPERS` (operands have no effects). OpenCL: the integer builtins;
    the conditional operator for floats, where `min` would order a NaN differently."""
    to = common(d.type_of(left), d.type_of(right))
    parts = [_as(x, to, d, 0) for x in (left, right)]
    if d.language == "c":
        return f"LX_{op.upper()}({', '.join(parts)})", PRIMARY
    if to.is_integer:
        casted = [
            p if d.type_of(x) == to else expr(Cast(to, x), d) for p, x in zip(parts, (left, right))
        ]
        return f"{op}({', '.join(casted)})", PRIMARY
    order = "<" if op == "min" else ">"
    return _text(Select(Bin(order, left, right), left, right), d)


def _cast(to: Scalar, operand: Expr, d: Dialect) -> Text:
    if d.language == "opencl" and to == BOOL:
        return f"(uchar)({expr(Bin('!=', operand, Const(0)), d)})", UNARY
    if d.language == "opencl" and to == HALF:
        return _rounded(operand, d), PRIMARY
    if d.language == "opencl" and to == FLOAT and d.type_of(operand) == HALF:
        return _text(operand, d)
    return f"({d.type_name(to)}){expr(operand, d, UNARY)}", UNARY


def routine_name(name: str, d: Dialect) -> str:
    """What a function of the user's file is called in the text."""
    if name in BIT_CASTS:
        return BIT_CASTS[name] if d.language == "opencl" else f"lx_{name.replace(' ', '_')}"
    return f"lx_{name}" if d.language == "opencl" else name


def _call(name: str, args: tuple[Expr, ...], d: Dialect) -> Text:
    base, types = base_name(name) or name, parameters(name)
    if d.language == "c" and base not in CLASSES:
        return f"{name}({', '.join(expr(a, d) for a in args)})", PRIMARY
    if types is None:
        raise EmitError(f"{name} has no counterpart in OpenCL C", help="write it with + - * / ?:")
    same = (a if d.type_of(a) == t else Cast(t, a) for a, t in zip(args, types))
    given = ", ".join(expr(a, d) for a in same)
    if d.language == "c":
        return f"{base}({given})", PRIMARY
    if name in INTEGER:
        return f"({d.type_name(types[0])})abs({given})", UNARY
    if base in ROUNDED:
        return f"(long){'round' if base.endswith('round') else 'rint'}({given})", UNARY
    if base == "sqrt" and types[0] == FLOAT and d.quick is not None:
        return d.quick.root(args[0], given), PRIMARY
    if base == "isinf":
        return f"(isinf({given}) ? 1 - 2 * signbit({given}) : 0)", PRIMARY
    return f"{_WORDS.get(base, base)}({given})", PRIMARY


_WORDS = {"nearbyint": "rint", "scalbn": "ldexp"}
"""Functions that OpenCL C calls otherwise. (`isinf` tells the sign, as that of glibc does.)"""


HELPERS = (
    "#define LX_MIN(a, b) ((a) < (b) ? (a) : (b))",
    "#define LX_MAX(a, b) ((a) > (b) ? (a) : (b))",
    "#define lx_bits_of_float(x) (((union { float f; unsigned int n; }){.f = (x)}).n)",
    "#define lx_float_of_bits(x) (((union { float f; unsigned int n; }){.n = (x)}).f)",
    "#define lx_bits_of_double(x) (((union { double f; unsigned long n; }){.f = (x)}).n)",
    "#define lx_double_of_bits(x) (((union { double f; unsigned long n; }){.n = (x)}).f)",
)
"""What C text may refer to; operands of min and max have no effects, so twice is once."""
