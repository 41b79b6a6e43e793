"""Names: what they stand for in the scopes around a statement, and what variables hold there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import islpy as isl
from pycparser import c_ast

from loopxform.validate.model import Position, Whole
from loopxform.validate.polynomials import Polynomial
from loopxform.validate.reading.numbers import Numbers
from loopxform.validate.reading.syntax import line_of, stored_in
from loopxform.validate.reading.values import Binding, Cell, Content
from loopxform.validate.unmodelled import Unmodelled


@dataclass
class Scopes(Numbers):
    """`groups` and `items` are the dimensions of work-groups and work-items; `launch`, `phase` and
    `order` say when a statement runs, as in `Statement`."""

    functions: dict[str, c_ast.FuncDef] = field(default_factory=dict)
    prefix: str = ""
    """Of the names of cells and statements."""
    scopes: list[dict[str, Binding]] = field(default_factory=lambda: [{}])
    launch: tuple[Position, ...] = ()
    phase: tuple[Position, ...] = ()
    order: tuple[Position, ...] = ()
    groups: tuple[int, ...] = ()
    items: tuple[int, ...] = ()
    in_phase: bool = False
    """Whether statements are placed among the barriers."""
    in_kernel: bool = False
    known: dict[str, Polynomial] = field(default_factory=dict)
    """What whole variables hold here, where iterations and parameters decide it."""
    flags: tuple[tuple[Cell, bool], ...] = ()
    """The conditions on data around a statement, and whether it runs where they do not hold."""

    def find(self, name: str, node: c_ast.Node) -> Binding:
        for scope in reversed(self.scopes):
            if name in scope:
                binding = scope[name]
                if isinstance(binding, Whole):
                    return Whole(binding.value.lifted(self.dims), binding.type)
                return binding
        raise Unmodelled(f"the name {name}", line_of(node))

    def bind(self, name: str, value: Binding) -> None:
        self.scopes[-1][name] = value

    @contextmanager
    def within(self, **changes: Any) -> Iterator[None]:
        """With other values of these fields, and a scope of its own."""
        before = {n: getattr(self, n) for n in (*changes, "domain", "order", "phase", "in_phase")}
        for n, v in changes.items():
            setattr(self, n, v)
        self.scopes.append({})
        try:
            yield
        finally:
            self.scopes.pop()
            for n, v in before.items():
                setattr(self, n, v)

    # ------------------------------------------------------------ what variables hold

    def keep(self, cell: Cell, value: Content) -> None:
        """What a variable holds from here on."""
        if cell.sizes or not cell.array.type.whole or cell.array.kind != "private":
            return
        decided = isinstance(value, Polynomial) and value.affine is not None
        if decided and not self.flags[cell.depth :]:
            assert isinstance(value, Polynomial)
            self.known[cell.array.name] = value
        else:
            self.known.pop(cell.array.name, None)

    def forget(self, s: c_ast.Node | None) -> None:
        """What a statement that may run any number of times stores to is not known."""
        for name in stored_in(s):
            for scope in self.scopes:
                cell = scope.get(name)
                if isinstance(cell, Cell):
                    self.known.pop(cell.array.name, None)

    def met(self, ways: Sequence[tuple[isl.Set, dict[str, Polynomial]]]) -> dict[str, Polynomial]:
        """What variables hold where several ways meet, each on its part of the domain."""
        names = set.intersection(*(set(known) for _, known in ways)) if ways else set()
        return {name: self._met([(where, known[name]) for where, known in ways]) for name in names}

    def _met(self, ways: Sequence[tuple[isl.Set, Polynomial]]) -> Polynomial:
        values = [value for _, value in ways]
        if all(v is values[0] for v in values):
            return values[0]
        parts: list[isl.PwAff] = []
        for where, value in ways:
            part = value.lifted(self.dims).affine
            assert part is not None
            parts.append(part.intersect_domain(where))
        return Polynomial.of(joined(parts).coalesce())


def joined(parts: Sequence[isl.PwAff]) -> isl.PwAff:
    """A number that is another one on each of several domains."""
    total = parts[0]
    for part in parts[1:]:
        total = total.union_add(part)
    return total
