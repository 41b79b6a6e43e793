"""Routines as functions of C or OpenCL C."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from loopxform.codegen import cexpr
from loopxform.codegen.cexpr import Dialect
from loopxform.codegen.opencl.words import free_name
from loopxform.ir.nodes import Assign, Decl, Function, Jump, Line, Loop, Return, Routine, Test
from loopxform.ir.routines import BIT_CASTS, in_order, symbols


def texts(fn: Function, language: str) -> list[str]:
    """The routines that `fn` calls, each with those that it calls before it."""
    return [text(r, language) for r in in_order(fn.routines) if r.name not in BIT_CASTS]


def text(r: Routine, language: str) -> str:
    """`static int gcd(int a, int b) { ... }`; in a kernel its name has a prefix."""
    types = symbols(r)
    if language == "c":
        d, head = Dialect("c", types), f"static {r.returns.c} {r.name}"
    else:
        taken: set[str] = set()
        names = {}
        for n in types:
            names[n] = free_name(n, frozenset(taken | (types.keys() - {n})))
            taken.add(names[n])
        d = Dialect("opencl", types, names=names)
        head = f"{r.returns.cl} {cexpr.routine_name(r.name, d)}"
    params = ", ".join(f"{d.type_name(p.type)} {d.name(p.name)}" for p in r.params) or "void"
    return "\n".join([f"{head}({params})", "{", *_lines(r.body, r, d, "  "), "}"])


def _lines(body: tuple[Line, ...], r: Routine, d: Dialect, pad: str) -> Iterator[str]:
    for s in body:
        match s:
            case Decl(name, t, shape):
                sizes = "".join(f"[{cexpr.expr(e, d)}]" for e in shape)
                yield f"{pad}{d.type_name(t)} {d.name(name)}{sizes};"
            case Assign():
                yield f"{pad}{cexpr.assign(s, d)};"
            case Return(value):
                assert value is not None
                yield f"{pad}return {cexpr.converted(value, r.returns, d)};"
            case Test(cond, then, orelse):
                yield f"{pad}if ({cexpr.expr(cond, d)}) {{"
                yield from _lines(then, r, d, pad + "  ")
                if orelse:
                    yield f"{pad}}} else {{"
                    yield from _lines(orelse, r, d, pad + "  ")
                yield pad + "}"
            case Loop():
                yield from _loop(s, r, d, pad)
            case Jump(word):
                yield f"{pad}{word};"
            case _:
                assert_never(s)


def _loop(s: Loop, r: Routine, d: Dialect, pad: str) -> Iterator[str]:
    test = "" if s.cond is None else cexpr.expr(s.cond, d)
    after = ", ".join(cexpr.assign(a, d) for a in s.after)
    yield f"{pad}do {{" if s.at_end else f"{pad}for (; {test}; {after}) {{"
    yield from _lines(s.body, r, d, pad + "  ")
    yield f"{pad}}} while ({test});" if s.at_end else pad + "}"
