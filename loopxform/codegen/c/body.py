"""The statements of a function as lines of C99."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain, count
from typing import assert_never

from loopxform.codegen import cexpr
from loopxform.codegen.c.copies import copy_lines
from loopxform.codegen.c.declarations import declaration, enumeration
from loopxform.codegen.c.layout import Orders
from loopxform.codegen.c.phases import Phase, phases
from loopxform.codegen.c.pragmas import is_vector, runs_parallel, threads_over
from loopxform.codegen.c.scopes import Scopes
from loopxform.codegen.cexpr import Dialect
from loopxform.errors import EmitError
from loopxform.ir import whiles
from loopxform.ir.affine import poly, value_of
from loopxform.ir.names import used_names
from loopxform.ir.nodes import (
    Assign,
    Copy,
    Decl,
    For,
    Function,
    If,
    Load,
    Opaque,
    Return,
    Stmt,
    Var,
    While,
)
from loopxform.ir.types import Scalar
from loopxform.ir.updates import CALLS
from loopxform.ir.visit import Path, names

_IN_TURN = CALLS | {"min", "max"}
"""Updates that OpenMP has no atomic directive for."""

STACK_LIMIT = 64 * 1024
"""Bytes up to which a local array of known size stays on the stack (OpenMP threads have little)."""


class Printer:
    """Statements to lines. A dialect travels along, since a name may have another type in a
    sibling scope; `parallel` says that an enclosing loop already runs in parallel. Loops
    `as_written` ask what those of the user ask."""

    def __init__(
        self,
        fn: Function,
        scopes: Scopes,
        stored: Orders,
        name: str,
        *,
        openmp: bool,
        as_written: bool = False,
    ) -> None:
        self.fn = fn
        self.scopes = scopes
        self.stored = stored
        self.name = name
        self.openmp = openmp
        self.as_written = as_written
        self.used = used_names(fn) | {r.name for r in fn.routines}
        self.found = phases(fn, scopes) if openmp else {}
        self.phases: list[str] = []
        self.own: set[str] = set()
        """The arrays that each thread has one of."""

    def body(
        self,
        body: tuple[Stmt, ...],
        path: Path,
        depth: int,
        d: Dialect,
        *,
        parallel: bool = False,
        orelse: bool = False,
    ) -> list[str]:
        """The lines of a statement list; `path` is that of the enclosing statement."""
        out: list[str] = []
        heap: list[str] = []
        pad = "  " * depth
        for n, s in enumerate(body):
            place = (*path, -1 - n if orelse else n)
            out += self._declarations(place, pad)
            match s:
                case Decl():
                    d = replace(d, types={**d.types, s.name: s.type})
                    self.own = self.own | {s.name} if parallel else self.own - {s.name}
                    out += [] if s.name in self.scopes.dropped else self._decl(s, pad, d, heap)
                case Assign() if (t := self._initialised(body[:n], s, place)) is not None:
                    out[-1] = f"{pad}{t.c} {cexpr.assign(s, d)};"
                case Return():
                    out += self._return(s, pad, d, heap)
                    heap = []
                case _:
                    out += self._statement(s, place, depth, d, parallel)
        return out + [f"{pad}free({n});" for n in heap]

    def _declarations(self, place: Path, pad: str) -> list[str]:
        out = []
        for name, t in self.scopes.before.get(place, ()):
            out.append(f"{pad}{t.c} {name};")
            if name in self.scopes.silenced:
                out.append(f"{pad}(void){name};")
        return out

    def _decl(self, s: Decl, pad: str, d: Dialect, heap: list[str]) -> list[str]:
        extents = [cexpr.expr(x, d) for x in s.shape]
        if not _on_heap(s):
            out = [f"{pad}{s.type.c} {s.name}{''.join(f'[{x}]' for x in extents)};"]
            return [*out, f"{pad}(void){s.name};"] if s.name in self.scopes.silenced else out
        heap.append(s.name)
        inner = "".join(f"[{x}]" for x in extents[1:])
        pointer = f"(*{s.name})" if inner else f"*{s.name}"
        count = " * ".join(f"(size_t)({x})" for x in extents)
        return [
            f"{pad}{s.type.c} {pointer}{inner} = malloc({count} * sizeof({s.type.c}) + 1);",
            f"{pad}if (!{s.name}) abort();",
        ]

    def _return(self, s: Return, pad: str, d: Dialect, heap: list[str]) -> list[str]:
        if s.value is None:
            return [f"{pad}free({n});" for n in heap] + [f"{pad}return;"]
        value = cexpr.expr(s.value, d)
        if not heap:
            return [f"{pad}return {value};"]
        assert self.fn.returns is not None
        result = self._fresh("result")
        out = [f"{pad}{self.fn.returns.c} {result} = {value};"]
        return [*out, *(f"{pad}free({n});" for n in heap), f"{pad}return {result};"]

    def _statement(self, s: Stmt, place: Path, depth: int, d: Dialect, parallel: bool) -> list[str]:
        pad = "  " * depth
        match s:
            case For() if place in self.found:
                return [pad + self._phase(s, self.found[place], place, d)]
            case For():
                return self._for(s, place, depth, d, parallel)
            case If():
                out = [f"{pad}if ({cexpr.expr(s.cond, d)}) {{"]
                out += self.body(s.then, place, depth + 1, d, parallel=parallel)
                if s.orelse:
                    out.append(f"{pad}}} else {{")
                    out += self.body(s.orelse, place, depth + 1, d, parallel=parallel, orelse=True)
                return [*out, pad + "}"]
            case Assign():
                return [f"{pad}{x}" for x in (*self._alone(s), f"{cexpr.assign(s, d)};")]
            case Copy():
                order = self.stored.get(s.target, ())
                return [pad + line for line in copy_lines(s, d, self._fresh, order)]
            case While():
                inside = self.body(s.body, place, depth + 1, d, parallel=parallel)
                test = f"while ({cexpr.expr(s.cond, d)})"
                if s.once:
                    return [f"{pad}do {{", *inside, f"{pad}}} {test};"]
                return [f"{pad}{test} {{", *inside, pad + "}"]
            case Opaque():
                raise EmitError(
                    f"a statement that is not modelled cannot be printed: {s.reason}",
                    loc=s.origin.loc,
                    help=s.help or None,
                )
            case Decl() | Return():
                raise AssertionError("handled by body")
            case _:
                assert_never(s)

    def _for(self, s: For, place: Path, depth: int, d: Dialect, parallel: bool) -> list[str]:
        pad = "  " * depth
        inner = replace(d, types={**d.types, s.var: s.type})
        if whiles.is_while(s):
            body = self.body(s.body, place, depth + 1, inner, parallel=parallel)
            return [f"{pad}while ({cexpr.expr(whiles.test(s), inner)}) {{", *body, pad + "}"]
        free = self.openmp and runs_parallel(s, place, self.scopes, inner.types)
        threads = free and not parallel
        out = (
            [f"{pad}#pragma omp {threads_over(s, place, self.scopes, d.types)}"] if threads else []
        )
        if free and parallel and is_vector(s):
            out = [f"{pad}#pragma omp simd"]
        own = "" if place in self.scopes.outside else f"{s.type.c} "
        out.append(f"{pad}for ({own}{header(s, d, inner, as_written=self.as_written)}) {{")
        out += self.body(s.body, place, depth + 1, inner, parallel=parallel or threads)
        return [*out, pad + "}"]

    def _alone(self, s: Assign) -> list[str]:
        """The directive of an update, or a store, that threads make one after the other."""
        own = isinstance(s.target, Load) and s.target.array in self.own
        if not s.atomic or own or not self.openmp:
            return []
        how = "critical" if s.op in _IN_TURN else "atomic" if s.op else "atomic write"
        return [f"#pragma omp {how}"]

    def _phase(self, s: For, p: Phase, place: Path, d: Dialect) -> str:
        """The call of a function of its own."""
        first = f"{self.name}_tile"
        others = (f"{first}_{n}" for n in count(2))
        name = next(n for n in chain([first], others) if n not in self.used)
        self.used |= {name}
        scalars = [f"{d.types[n].c} {n}" for n in p.scalars]
        params = [declaration(replace(x, restrict=False)) for x in p.params]
        tiles = [
            f"{a.type.c} {a.name}[restrict {sizes[0]}]" + "".join(f"[{n}]" for n in sizes[1:])
            for a in p.tiles
            for sizes in [[value_of(x) for x in a.shape]]
        ]
        body = self._for(s, place, 1, d, True)
        head = f"static void {name}({', '.join([*scalars, *params, *tiles])})"
        self.phases += [head, "{", *enumeration(dict(p.sizes)), *body, "}", ""]
        passed = [*p.scalars, *(x.name for x in p.params), *(x.name for x in p.tiles)]
        return f"{name}({', '.join(passed)});"

    def _initialised(self, before: tuple[Stmt, ...], s: Assign, place: Path) -> Scalar | None:
        """The type of the scalar that `s` sets, where the statement before only declares it."""
        match before[-1:], s:
            case (Decl(name, t, ()),), Assign(Var(target), value, "") if name == target:
                apart = name in self.scopes.silenced or place in self.scopes.before
                return None if apart or name in names(value) else t
            case _:
                return None

    def _fresh(self, wanted: str) -> str:
        while wanted in self.used:
            wanted += "_"
        return wanted


def header(s: For, outside: Dialect, inside: Dialect, *, as_written: bool = False) -> str:
    """`i = 0; i < n; i += Ty*Ry`, the test as C would convert its operands. Steps may have
    moved the loop out of others, without whose iterations its bounds were not computed."""
    outside, inside = (x if as_written else replace(x, ahead=True) for x in (outside, inside))
    step = poly(s.step)
    value = step.value
    down = value is not None and value < 0
    asked = whiles.written_test(s) if as_written else whiles.test(s)
    test = cexpr.expr(asked, inside)
    if step.constant in (1, -1):
        change = "++" if step.constant == 1 else "--"
    elif down and step.constant is not None:
        change = f" -= {-step.constant}"
    else:
        change = f" += {cexpr.expr(s.step, inside)}"
    return f"{s.var} = {cexpr.expr(s.lo, outside)}; {test}; {s.var}{change}"


def _on_heap(s: Decl) -> bool:
    """Arrays whose size is not a small number: the stack of a thread may not hold them."""
    if not s.shape:
        return False
    total = s.type.bytes
    for extent in s.shape:
        value = value_of(extent)
        if value is None:
            return True
        total *= value
    return total > STACK_LIMIT
