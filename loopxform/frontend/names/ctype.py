"""C types as declarations give them: an element type and what is derived from it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

from pycparser import c_ast

from loopxform.ir.types import (
    BOOL,
    CHAR,
    DOUBLE,
    FLOAT,
    HALF,
    INT,
    LLONG,
    LONG,
    SCHAR,
    SHORT,
    UCHAR,
    UINT,
    ULLONG,
    ULONG,
    USHORT,
    Scalar,
)
from loopxform.records import record


@record
class Pointer:
    const: bool = False
    restrict: bool = False
    volatile: bool = False


@record
class Array:
    """`size` is the expression as parsed, None where not stated; `quals` those inside [ ]."""

    size: c_ast.Node | None
    quals: tuple[str, ...] = ()


@record
class Func:
    """A function type; `params` as parsed."""

    params: c_ast.ParamList | None


Derived: TypeAlias = Pointer | Array | Func


@record
class CType:
    """`base` is None for what is not modelled (void, structs, long double); `spelling` names it.

    `derived` goes from the outside in: `float *a[3]` is an array of pointers, (Array, Pointer).
    """

    base: Scalar | None
    spelling: str
    derived: tuple[Derived, ...] = ()
    const: bool = False
    volatile: bool = False
    record: str = ""
    """The key of the struct or union that the elements are, see `record_key`."""
    united: bool = False
    """It is of a member that lies in a union."""

    @property
    def is_scalar(self) -> bool:
        """An object of a type that the loop tree has."""
        return not self.derived and self.base is not None

    @property
    def is_void(self) -> bool:
        return not self.derived and self.spelling == "void"

    @property
    def is_array(self) -> bool:
        """An array, a pointer to scalars or to arrays of them: one block of known elements."""
        inner = self.derived[1:]
        return (
            self.base is not None
            and bool(self.derived)
            and not isinstance(self.derived[0], Func)
            and all(isinstance(d, Array) for d in inner)
        )

    @property
    def is_rows(self) -> bool:
        """Pointers to pointers to scalars, arrays of pointers and the like: rows of known
        elements, wherever each of them is."""
        levels = sum(isinstance(d, Pointer) for d in self.derived)
        known = all(isinstance(d, Pointer | Array) for d in self.derived)
        first = isinstance(self.derived[0], Pointer) if self.derived else False
        return self.base is not None and known and levels > (1 if first else 0)

    @property
    def is_any_volatile(self) -> bool:
        return self.volatile or any(isinstance(d, Pointer) and d.volatile for d in self.derived)

    def __str__(self) -> str:
        """The type in words a diagnostic can quote: `float **`, `struct point`."""
        out = self.spelling
        stars = "".join("*" for d in self.derived if isinstance(d, Pointer))
        boxes = "".join("[]" for d in self.derived if isinstance(d, Array))
        if any(isinstance(d, Func) for d in self.derived):
            boxes += "()"
        return f"{out} {stars}{boxes}" if stars or boxes else out


_SIMPLE: dict[tuple[str, ...], Scalar] = {
    ("_Bool",): BOOL,
    ("char",): CHAR,
    ("char", "signed"): SCHAR,
    ("char", "unsigned"): UCHAR,
    ("short",): SHORT,
    ("short", "unsigned"): USHORT,
    (): INT,
    ("unsigned",): UINT,
    ("long",): LONG,
    ("long", "unsigned"): ULONG,
    ("long", "long"): LLONG,
    ("long", "long", "unsigned"): ULLONG,
    ("_Float16",): HALF,
    ("float",): FLOAT,
    ("double",): DOUBLE,
}


def simple(names: list[str]) -> CType:
    """The type of a list of specifiers in any order: `unsigned long int`."""
    words = [n for n in names if n != "int"]
    if "char" not in words:
        words = [n for n in words if n != "signed"]
    known = bool(names) and all(n in _WORDS for n in names)
    base = _SIMPLE.get(tuple(sorted(words))) if known else None
    return CType(base, base.c if base else " ".join(names))


_SPECIFIERS = "_Bool char short int long signed unsigned _Float16 float double"
_WORDS = frozenset(_SPECIFIERS.split())

Lookup: TypeAlias = Callable[[str], CType | None]


def ctype(node: c_ast.Node, typedef: Lookup) -> CType:
    """The type of a declaration's type node; `typedef` knows the names."""
    match node:
        case c_ast.TypeDecl() | c_ast.Typename():
            inner = ctype(node.type, typedef)
            return qualified(inner, node.quals or [])
        case c_ast.PtrDecl():
            quals = node.quals or []
            outer = Pointer("const" in quals, "restrict" in quals, "volatile" in quals)
            return _derive(outer, ctype(node.type, typedef))
        case c_ast.ArrayDecl():
            outer_array = Array(node.dim, tuple(node.dim_quals or ()))
            return _derive(outer_array, ctype(node.type, typedef))
        case c_ast.FuncDecl():
            return _derive(Func(node.args), ctype(node.type, typedef))
        case c_ast.IdentifierType():
            only = node.names[0] if len(node.names) == 1 else ""
            named = typedef(only) if only and only not in _WORDS else None
            return named or simple(node.names)
        case c_ast.Struct() | c_ast.Union():
            word = "struct" if isinstance(node, c_ast.Struct) else "union"
            return CType(None, f"{word} {node.name or '{...}'}", record=record_key(node))
        case c_ast.Enum():
            known = typedef(enum_key(node))
            typeof = node.name == "_"
            spelling = "typeof(...)" if typeof else f"enum {node.name or '{...}'}"
            return known or CType(None, spelling)
        case _:
            return CType(None, type(node).__name__)


def named(t: CType, name: str) -> CType:
    """The type that a typedef gives a name: a struct without a tag is called by it."""
    return replace(t, spelling=name) if t.spelling == "struct {...}" and not t.derived else t


def record_key(node: c_ast.Struct | c_ast.Union) -> str:
    """What tells a struct or a union from others: its tag, or the place of its definition."""
    return str(node.name or f"at {node.coord}")


def enum_key(node: c_ast.Enum) -> str:
    """The name under which the type of an enumeration is kept, which no typedef can have."""
    return f"enum {node.name or node.coord}"


def enumeration(values: Sequence[int | None]) -> CType | None:
    """The type of an enumeration with these constants, as gcc and clang choose it: unsigned int, or
    int where one is negative. None where that is not certain."""
    known = [v for v in values if v is not None and -(1 << 31) <= v < 1 << 31]
    if not known or len(known) < len(values):
        return None
    base = INT if min(known) < 0 else UINT
    return CType(base, base.c)


def _derive(outer: Derived, inner: CType) -> CType:
    return replace(inner, derived=(outer, *inner.derived))


def qualified(t: CType, quals: list[str]) -> CType:
    """`t` with const, volatile or restrict: of the pointer where it is one, else the element."""
    if "_Atomic" in quals:
        return replace(t, base=None, spelling=f"_Atomic {t.spelling}")
    if t.derived and isinstance(t.derived[0], Pointer):
        p = t.derived[0]
        p = Pointer(
            p.const or "const" in quals,
            p.restrict or "restrict" in quals,
            p.volatile or "volatile" in quals,
        )
        return replace(t, derived=(p, *t.derived[1:]))
    return replace(t, const=t.const or "const" in quals, volatile=t.volatile or "volatile" in quals)
