"""Functions as compilable C99, at any step of a derivation.

The text computes what the loop tree means: `forall` becomes an OpenMP loop where C allows it, tile
sizes become an `enum`, copies become loops, and local arrays live on the stack or, where their size
is not a small number, on the heap.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from math import prod

from loopxform.codegen import cexpr, routines
from loopxform.codegen.c.body import Printer
from loopxform.codegen.c.declarations import declaration, enumeration, prototype, struct_declaration
from loopxform.codegen.c.halves import with_halves
from loopxform.codegen.c.layout import laid_out, orders
from loopxform.codegen.c.scopes import scopes_of
from loopxform.codegen.cexpr import Dialect
from loopxform.codegen.structs import c_definition, place, plain_locals, records, roots
from loopxform.codegen.tables import initialiser
from loopxform.codegen.whole import require_whole
from loopxform.floating_point import PERMITTED
from loopxform.ir.affine import value_of
from loopxform.ir.nodes import (
    Call,
    Const,
    Expr,
    Function,
    Param,
    Struct,
    Tile,
)
from loopxform.ir.permitted import permitted
from loopxform.ir.records import Record
from loopxform.ir.visit import map_exprs, stmt_exprs, walk, walk_expr


def file_text(
    fn: Function,
    *,
    name: str | None = None,
    openmp: bool = True,
    as_written: bool = False,
    define_globals: bool = False,
) -> str:
    """A translation unit with the function. The globals it uses are declared `extern`, or defined
    here on request (static ones exist nowhere else). Raises EmitError as `function_text`."""
    text = function_text(fn, name=name, openmp=openmp, as_written=as_written)
    groups = _prelude(fn, text, define_globals=define_globals)
    return "\n".join([*("".join(f"{x}\n" for x in lines) for lines in groups if lines), text])


def prelude(fn: Function, text: str) -> list[str]:
    """The lines that must stand above `text`, which functions derived from `fn` make up: includes,
    helper macros, the declarations of globals."""
    return [line for group in _prelude(fn, text) for line in group]


def _prelude(fn: Function, text: str, *, define_globals: bool = False) -> Iterator[list[str]]:
    constants = [_global(p, define=define_globals) for p in fn.globals if not p.is_member]
    own = routines.texts(fn, "c")
    yield [f"#include <{h}>" for h in _headers(fn, "\n".join([text, *constants, *own]))]
    yield [h for h in cexpr.HELPERS if h.split("(")[0].split()[1] in text]
    yield [c_definition(r, _pointers(fn, r)) for r in records(fn)]
    owned = [s for s in fn.structs if s.is_global and "." not in s.name]
    yield [f"{'' if define_globals else 'extern '}{struct_declaration(s)};" for s in owned]
    yield constants
    yield own


def _pointers(fn: Function, r: Record) -> dict[tuple[str, ...], str]:
    """The declarations of the pointers in a struct that the function follows."""
    out = {}
    every: tuple[Param | Struct, ...] = (*fn.objects, *fn.structs)
    for p in every:
        at = place(fn, p.name) if "." in p.name else None
        if at is not None and at.path[-1].type is None and at.struct.type == r:
            path = tuple(m.name for m in at.path)
            if isinstance(p, Param):
                pointer = replace(p, name=path[-1], restrict=False, pointer=True)
                out[path] = declaration(pointer)
            else:
                out[path] = struct_declaration(replace(p, name=path[-1], restrict=False))
    return out


def _global(p: Param, *, define: bool) -> str:
    p = _as_declared(p)
    if p.values and (define or p.static):
        return f"{'static ' if p.static else ''}{declaration(p)} = {initialiser(p, Dialect())};"
    return f"{'' if define else 'extern '}{declaration(p)};"


def _as_declared(p: Param) -> Param:
    """An array of one dimension again where subscripts told several."""
    if not p.flat or p.pointer:
        return p
    sizes = [None if d is None else value_of(d) for d in p.shape]
    known = [n for n in sizes if n is not None]
    size = len(p.values) or (prod(known) if len(known) == len(sizes) else None)
    return replace(p, shape=(None if size is None else Const(size),))


def function_text(
    fn: Function,
    *,
    name: str | None = None,
    openmp: bool = True,
    static: bool = False,
    as_written: bool = False,
) -> str:
    """The function alone, behind those that its groups call. It may use LX_MIN, LX_MAX
    (`cexpr.HELPERS`), math.h and stdlib.h. One `as_written`, to which no step was applied, does
    what the user's does whether its assumptions hold or not.

    Raises EmitError where the function holds statements that are not modelled.
    """
    fn = fn.as_written or fn if as_written else fn
    require_whole(fn)
    fn = _with_tiles(with_halves(plain_locals(fn)))
    stored = orders(fn)
    fn = laid_out(fn, stored)
    scopes = scopes_of(fn)
    printer = Printer(fn, scopes, stored, name or fn.name, openmp=openmp, as_written=as_written)
    lines = [("static " if static else "") + prototype(fn, name), "{"]
    lines += _SEPARATE if not permitted(PERMITTED["fast"], fn).contract else []
    lines += enumeration(dict(fn.tiles))
    used = {p.name.partition(".")[0] for p in fn.params if p.name not in scopes.silenced}
    passed = (p for p in fn.params if not p.ends)
    unread = [n for n in roots(passed) if n not in used]
    lines += [f"  (void){n};" for n in unread]
    lines += printer.body(fn.body, (), 1, cexpr.dialect_of(fn))
    return "\n".join([*printer.phases, *lines, "}"]) + "\n"


_SEPARATE = [
    "#if defined __clang__ || !defined __GNUC__",
    "#pragma STDC FP_CONTRACT OFF",
    "#endif",
]
"""As the source says of a statement in it; gcc does not know the pragma, and warns."""


def _with_tiles(fn: Function) -> Function:
    """With the tile sizes that it names, and numbers for those that are not the same in all
    variants of its nests."""
    values: dict[str, set[int]] = {}
    for x in _expressions(fn):
        if isinstance(x, Tile):
            values.setdefault(x.name, set()).add(x.value)
    own = {name: min(found) for name, found in values.items() if len(found) == 1}

    def number(e: Expr) -> Expr:
        return Const(e.value) if isinstance(e, Tile) and e.name not in own else e

    body = fn.body if len(own) == len(values) else map_exprs(fn.body, number)
    return replace(fn, body=body, tiles=tuple(own.items()))


def _headers(fn: Function, text: str) -> list[str]:
    needed = {
        "math.h": any(isinstance(x, Call) for x in _expressions(fn))
        or re.search(r"\b(INFINITY|NAN|HUGE_VAL)\b", text),
        "stdbool.h": re.search(r"\bbool\b", text),
        "stddef.h": re.search(r"\b(size_t|ptrdiff_t)\b", text),
        "stdint.h": re.search(r"\bu?int\d+_t\b", text),
        "stdlib.h": re.search(r"\b(malloc|abort|l?l?abs)\(", text),
    }
    return [h for h, need in needed.items() if need]


def _expressions(fn: Function) -> Iterator[Expr]:
    for _, s in walk(fn.body):
        for e in stmt_exprs(s):
            yield from walk_expr(e)
    for p in fn.objects:
        for d in p.shape:
            if d is not None:
                yield from walk_expr(d)
