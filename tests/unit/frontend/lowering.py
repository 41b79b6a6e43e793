"""Short ways to lower C text and to look at the result."""

from __future__ import annotations

from textwrap import dedent

from loopxform.frontend import CppOptions, Parsed, parse_file
from loopxform.ir.nodes import Function, Opaque, Param, Stmt
from loopxform.ir.printer import expr_text, listing
from loopxform.ir.visit import walk
from loopxform.ir.wellformed import check


def parsed(text: str, *, file: str = "t.c", **options: tuple[str, ...]) -> Parsed:
    out = parse_file(file, CppOptions(**options), text=dedent(text))
    for fn in out.unit.functions:
        check(fn)
    return out


def lower(text: str, **options: tuple[str, ...]) -> Function:
    """The only function of `text`."""
    (fn,) = parsed(text, **options).unit.functions
    return fn


def body(statements: str, params: str = "int n, float *a, float *b") -> Function:
    return lower(f"void f({params}) {{ {statements} }}")


def text(statements: str, params: str = "int n, float *a, float *b") -> str:
    """The listing of statements, one line."""
    return " ".join(listing(body(statements, params)).split())


def opaques(fn: Function) -> list[Opaque]:
    return [s for _, s in walk(fn.body) if isinstance(s, Opaque)]


def first(fn: Function, kind: type[Stmt]) -> Stmt:  # type: ignore[valid-type]
    return next(s for _, s in walk(fn.body) if isinstance(s, kind))


def param(fn: Function, name: str) -> Param:
    return next(p for p in fn.objects if p.name == name)


def shape(fn: Function, name: str) -> list[str | None]:
    return [None if d is None else expr_text(d) for d in param(fn, name).shape]


def assumes(fn: Function) -> list[str]:
    return [expr_text(a) for a in fn.assumes]
