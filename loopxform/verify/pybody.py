"""A function of the loop tree as the text of a Python function, one statement a line.

Scalars become Python locals: an unset one is an unbound local, so that reading it raises. Loops
over a fixed range become `for`; a line table leads from a Python line to the statement it runs.
"""

from __future__ import annotations

from typing import assert_never

from loopxform.errors import LoopxformError
from loopxform.ir.affine import value_of
from loopxform.ir.nodes import (
    Assign,
    Bin,
    Copy,
    Decl,
    Expr,
    For,
    Function,
    If,
    Opaque,
    Return,
    Stmt,
    Var,
    While,
)
from loopxform.ir.types import Scalar, common, promote
from loopxform.ir.typing import type_of
from loopxform.ir.updates import updated
from loopxform.ir.visit import names as names_of
from loopxform.ir.visit import walk, writes
from loopxform.source import Origin
from loopxform.verify.arith import bounds
from loopxform.verify.memory import MAX_RANK, Fault
from loopxform.verify.pyexpr import Expressions, Names


class InterpError(LoopxformError):
    """The program does something it must not do: an access outside of an array, a read of an
    element that was never set, an undefined operation; or its arguments do not fit."""

    status = 1
    code = "LX210"


class Translation:
    """The Python text of a function, and the origin of each of its lines (1-based).

    The text defines `program(order, <one argument per object>)`, which returns the value of the
    function and the final values of the scalar globals.
    """

    def __init__(self, fn: Function) -> None:
        self.fn = fn
        self.lines: list[str] = []
        self.origins: list[Origin] = []
        self.expressions = Expressions()
        self._count = 0
        names = Names()
        for p in fn.objects:
            names.python[p.name] = self._identifier(p.name)
            names.types[p.name] = p.type
        for _, s in walk(fn.body):
            if isinstance(s, For) and s.live_out and s.var not in names.python:
                names.python[s.var] = self._identifier(s.var)
                names.types[s.var] = s.type
        self._globals = {p.name: names.python[p.name] for p in fn.globals if not p.shape}
        arguments = ", ".join(["order", *(names.python[p.name] for p in fn.objects)])
        self._emit(0, f"def program({arguments}):", fn.origin)
        for p in fn.objects:
            if p.shape:
                self._accessors(1, names.python[p.name], len(p.shape), fn.origin)
        self._body(fn.body, names, 1)
        self._emit(1, f"return None, {self._final_globals()}", fn.origin)

    @property
    def text(self) -> str:
        return "\n".join(self.lines) + "\n"

    # ------------------------------------------------------------ lines and names

    def _emit(self, depth: int, line: str, origin: Origin) -> None:
        """One line, after the temporaries its text refers to."""
        new = [*self.expressions.prelude, line]
        self.expressions.prelude.clear()
        self.lines += [" " * depth + text for text in new]
        self.origins += [origin] * len(new)

    def _identifier(self, name: str) -> str:
        self._count += 1
        return f"v{self._count}_{name.replace('.', '_')}"

    def _accessors(self, depth: int, python: str, rank: int, origin: Origin) -> None:
        which = str(rank) if rank <= MAX_RANK else ""
        self._emit(depth, f"{python}_get = {python}.get{which}", origin)
        self._emit(depth, f"{python}_set = {python}.set{which}", origin)

    def _final_globals(self) -> str:
        return "{" + ", ".join(f"{n!r}: {p}" for n, p in self._globals.items()) + "}"

    def _index(self, e: Expr, names: Names) -> str:
        return self.expressions.index(e, names)

    # ------------------------------------------------------------ statements

    def _body(self, body: tuple[Stmt, ...], names: Names, depth: int) -> None:
        names = names.copy()
        start = len(self.lines)
        for s in body:
            try:
                self._statement(s, names, depth)
            except Fault as e:
                raise InterpError(str(e), loc=s.origin.loc) from e
        if len(self.lines) == start:
            self._emit(depth, "pass", self.fn.origin)

    def _statement(self, s: Stmt, names: Names, depth: int) -> None:
        match s:
            case For():
                self._for(s, names, depth)
            case If():
                test = self.expressions.truth(s.cond, names)
                self._emit(depth, f"if {test}:", s.origin)
                self._body(s.then, names, depth + 1)
                if s.orelse:
                    self._emit(depth, "else:", s.origin)
                    self._body(s.orelse, names, depth + 1)
            case Assign():
                self._assign(s, names, depth)
            case Decl():
                self._decl(s, names, depth)
            case Copy():
                self._copy(s, names, depth)
            case Return(value):
                result = "None"
                if value is not None and self.fn.returns is not None:
                    result = self.expressions.value(value, names, self.fn.returns)
                self._emit(depth, f"return {result}, {self._final_globals()}", s.origin)
            case While():
                self._while(s, names, depth)
            case Opaque(_, reason):
                raise Fault(f"a statement that is not modelled cannot run: {reason}")
            case _:
                assert_never(s)

    def _assign(self, s: Assign, names: Names, depth: int) -> None:
        to = type_of(s.target, names.types)
        value = updated(s.op, s.target, s.value) if s.op else s.value
        text = self.expressions.value(value, names, to)
        if isinstance(s.target, Var):
            self._emit(depth, f"{names.python[s.target.name]} = {text}", s.origin)
            return
        index = "".join(f"{self._index(i, names)}, " for i in s.target.index)
        self._emit(depth, f"{names.python[s.target.array]}_set({index}{text})", s.origin)

    def _decl(self, s: Decl, names: Names, depth: int) -> None:
        extents = "".join(f"{self._index(d, names)}, " for d in s.shape)
        python = names.python[s.name] = self._identifier(s.name)
        names.types[s.name] = s.type
        if s.shape:
            self._emit(depth, f"{python} = allocate({s.name!r}, ({extents}))", s.origin)
            self._accessors(depth, python, len(s.shape), s.origin)
        else:
            self._emit(depth, f"{python} = None; del {python}", s.origin)

    def _copy(self, s: Copy, names: Names, depth: int) -> None:
        def number(e: Expr | None) -> str:
            return "None" if e is None else self._index(e, names)

        slices = "".join(
            f"({number(x.lo)}, {number(x.size)}, {number(x.limit)}, {x.clamp}, {number(x.floor)}), "
            for x in s.slices
        )
        have, to = names.types[s.source], names.types[s.target]
        convert = "None"
        if have != to:
            convert = f"lambda x: {self.expressions.convert('x', have, to)}"
        arrays = f"{names.python[s.target]}, {names.python[s.source]}"
        pad = "None" if s.pad is None else self.expressions.value(s.pad, names, to)
        self._emit(depth, f"copy({arrays}, ({slices}), {convert}, {pad})", s.origin)

    # ------------------------------------------------------------ loops

    def _for(self, s: For, names: Names, depth: int) -> None:
        inner = names.copy()
        shared = s.var in names.python and (s.live_out or s.var in names_of(s.lo))
        python = names.python[s.var] if shared else self._identifier(s.var)
        inner.python[s.var] = python
        inner.types[s.var] = names.types[s.var] if shared else s.type
        lo = self.expressions.value(s.lo, names, inner.types[s.var])
        if self._fixed(s, inner.types):
            self._fixed_loop(s, python, lo, inner, depth)
        else:
            self._general_loop(s, python, lo, inner, depth)

    def _while(self, s: While, names: Names, depth: int) -> None:
        self._emit(depth, "while True:", s.origin)
        if s.once:
            self._body(s.body, names, depth + 1)
        test = self.expressions.truth(s.cond, names)
        self._emit(depth + 1, f"if not {test}: break", s.origin)
        if not s.once:
            self._body(s.body, names, depth + 1)

    def _fixed(self, s: For, types: dict[str, Scalar]) -> bool:
        """Whether the values of the variable are known when the loop starts."""
        t, bound = types[s.var], promote(type_of(s.hi, types))
        to = common(t, bound)
        changed = writes(s.body) | {x.var for _, x in walk(s.body) if isinstance(x, For)}
        return (
            to.is_integer
            and promote(t).is_unsigned == to.is_unsigned
            and not (names_of(s.hi) | names_of(s.step)) & (changed | {s.var})
        )

    def _fixed_loop(self, s: For, python: str, lo: str, names: Names, depth: int) -> None:
        t = names.types[s.var]
        to = common(t, promote(type_of(s.hi, names.types)))
        hi = self.expressions.value(s.hi, names, to)
        low, top = bounds(t)
        step, down = self._index(s.step, names), (value_of(s.step) or 0) < 0
        self._count += 1
        span = f"r{self._count}"
        self._emit(depth, f"{span} = steps({lo}, {hi}, {step}, {low}, {top}, {down})", s.origin)
        if s.live_out:
            after = f"{span}[-1] + {span}.step if {span} else {lo}"
            final = f"l{self._count}"
            self._emit(depth, f"{final} = {after}", s.origin)
        order = f"order({span})" if s.parallel else span
        self._emit(depth, f"for {python} in {order}:", s.origin)
        self._body(s.body, names, depth + 1)
        if s.live_out:
            self._emit(depth, f"{python} = {final}", s.origin)

    def _general_loop(self, s: For, python: str, lo: str, names: Names, depth: int) -> None:
        down = (value_of(s.step) or 0) < 0
        test = self.expressions.test(">" if down else "<", Var(s.var), s.hi, names)
        if self.expressions.prelude:
            raise Fault("a loop condition is nested too deeply")
        self._emit(depth, f"{python} = {lo}", s.origin)
        self._emit(depth, f"while {test}:", s.origin)
        self._body(s.body, names, depth + 1)
        advance = Bin("+", Var(s.var), s.step)
        text = self.expressions.value(advance, names, names.types[s.var])
        self._emit(depth + 1, f"{python} = {text}", s.origin)
