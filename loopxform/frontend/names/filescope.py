"""The names that a translation unit declares outside of functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from pycparser import c_ast

from loopxform.frontend.names.aliasing import Aliasing
from loopxform.frontend.names.called_effects import CalledEffects
from loopxform.frontend.names.ctype import CType
from loopxform.frontend.names.hidden_state import Hidden
from loopxform.frontend.names.library import pure
from loopxform.frontend.names.members import Records
from loopxform.frontend.names.sequential import Obstacle
from loopxform.frontend.names.symbols import Symbol
from loopxform.frontend.syntax.layouts import USUAL, Layouts
from loopxform.frontend.syntax.tree import every
from loopxform.ir.nodes import Expr, Routine
from loopxform.ir.records import Record

Sees: TypeAlias = Callable[[str], str | None]


def by_name(ast: c_ast.FileAST) -> frozenset[str]:
    """The static variables of a file whose addresses are taken nowhere in it."""
    declared = (n for n in ast.ext if isinstance(n, c_ast.Decl) and "static" in (n.storage or ()))
    names = {n.name for n in declared if n.name}
    for n in every(ast) if names else ():
        match n:
            case c_ast.UnaryOp(op="&", expr=place):
                names -= {x.name for x in every(place) if isinstance(x, c_ast.ID)}
            case c_ast.FuncCall(name=c_ast.ID(name="asm" | "__asm" | "__asm__")):
                return frozenset()
    return frozenset(names)


class FileScope:
    """What a translation unit declares outside functions; `own` are the functions it defines,
    each with what keeps its body from standing in the place of a call. `layouts` says which types
    lie in memory as usual, `strict_aliasing` that types tell objects apart; `hidden` says who looks
    at what functions of the library leave behind, `promised` what attributes say of functions:
    const, pure, noreturn."""

    def __init__(
        self,
        own: Mapping[str, str] | None = None,
        hidden: Hidden | None = None,
        *,
        layouts: Layouts = USUAL,
        strict_aliasing: bool = True,
        only_judged: bool = False,
        has_matrices: bool = False,
        promised: Mapping[str, frozenset[str]] | None = None,
        mentioned: frozenset[str] = frozenset(),
    ) -> None:
        self.layouts = layouts
        self.only_judged = only_judged
        """Whether functions are asked about and never run: rows that pointers to pointers lead to
        are taken to be apart, and loops whose steps are variables count their iterations."""
        self.has_matrices = only_judged or has_matrices
        """Whether variables that are pointers to pointers are matrices, rows taken to be apart."""
        self.promised = promised or {}
        self.hidden = hidden
        self.routines: dict[str, Routine] = {}
        """The functions so far that are pure and work on numbers; see `routine`."""
        self.names: dict[str, Symbol] = {}
        self.own = own or {}
        self.records = Records(
            {},
            rows_apart=only_judged,
            has_matrices=has_matrices,
            mentioned=mentioned,
            layouts=layouts,
        )
        self.aliasing = Aliasing(self.records.types, self.records.united, strict=strict_aliasing)
        self.by_name: frozenset[str] = frozenset()
        """The variables that only their names lead to."""
        self.called = CalledEffects()
        """What the functions that the file defines do in any case."""
        self.elements: dict[tuple[int, ...], tuple[Expr, ...]] = {}
        """Those of `const` variables, by the identity of their initialisers and the shape."""
        self.iterated: dict[str, list[str]] = {}
        """What loops set that is declared outside of them, by their places in the text."""
        self.sequential: dict[str, Obstacle] = {}
        """What keeps the iterations of loops in order, by their places in the text."""

    def routine(self, name: str, symbol: Symbol | None) -> Routine | None:
        """The pure function of numbers that a name stands for, if it stands for `symbol`."""
        if symbol is not None and symbol.kind != "function":
            return None
        if name in self.routines:
            return self.routines[name] if symbol is not None else None
        return None if name in self.own else pure(name, declared=symbol is not None)

    def sees(self, function: str) -> Sees:
        """What is looked at of the state that a call of a math function in `function` changes."""
        hidden = self.hidden
        return lambda call: None if hidden is None else hidden.seen(function, call)

    def typedef(self, name: str) -> CType | None:
        found = self.names.get(name)
        return found.type if found and found.kind == "type" else None

    def layout(self, t: CType) -> Record | None:
        """How a struct lies in memory, where that is known."""
        return self.records.layout(t) if self.layouts.plain else None
