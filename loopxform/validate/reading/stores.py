"""What stores to cells: assignments, and declarations of variables and arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import islpy as isl
from pycparser import c_ast

from loopxform.validate import expressions as ex
from loopxform.validate.ctypes import INT, CType
from loopxform.validate.model import Position, Statement, Undefined, Whole
from loopxform.validate.polynomials import Polynomial
from loopxform.validate.reading.evaluation import Evaluation
from loopxform.validate.reading.syntax import line_of
from loopxform.validate.reading.values import Cell, Value
from loopxform.validate.text import LOCAL
from loopxform.validate.unmodelled import Unmodelled


@dataclass
class Stores(Evaluation):
    stored: frozenset[str] = frozenset()
    """The names of the variables that the function stores to behind their declarations."""

    def assignment(self, target: c_ast.Node, op: str, value: c_ast.Node, node: c_ast.Node) -> None:
        if isinstance(value, c_ast.Assignment):
            raise Unmodelled("an assignment in an expression", line_of(node))
        cell, places = self.place(target)
        type = cell.array.type
        right = self.expr(value)
        if op != "=":
            right = self.binary(op[:-1], (self.element(cell, places, node), type), right, node)
        self.store(cell, places, self.cast(right, type, node), node)

    def store(
        self, cell: Cell, places: Sequence[Polynomial], value: Value, node: c_ast.Node
    ) -> None:
        """Where data decide whether it happens, the cell may get what it holds."""
        e = self.expression(value, node)
        for flag, negated in reversed(self.flags[cell.depth :]):
            old, holds = self.element(cell, places, node), self.element(flag, (), node)
            first, second = (old, e) if negated else (e, old)
            e = ex.operation("?:", (holds, first, second), cell.array.type)
        self.keep(cell, value[0])
        name = f"{self.prefix}S{len(self.program.statements)}"
        cells = self.cells(cell, places, node)
        domain = self.domain.set_tuple_name(name)
        self.program.statements.append(
            Statement(
                name,
                domain,
                cell.array.name,
                cells.set_tuple_name(isl.dim_type.in_, name).intersect_domain(domain),
                ex.named(e, domain.get_tuple_id()),
                line_of(node),
                self.launch,
                self.phase,
                self.order,
                self.groups,
                self.items,
            )
        )

    # ------------------------------------------------------------ declarations

    def declaration(self, d: c_ast.Decl) -> None:
        if isinstance(d.type, c_ast.FuncDecl | c_ast.Struct | c_ast.Enum | c_ast.Union):
            return
        type, dims = self.declared(d.type)
        if "static" in d.storage and "const" not in d.quals and (dims or d.name in self.stored):
            raise Unmodelled(f"the static variable {d.name}", line_of(d))
        local = LOCAL in d.storage
        if not dims and not local and self._names_number(d, type):
            return
        sizes = [self._size(e, d) for e in dims]
        cell = self.new_cell(d.name, type, sizes, "local" if local else "private", line_of(d))
        if d.init is not None and not isinstance(d.init, c_ast.InitList):
            value = self.cast(self.expr(d.init), type, d)
            self.bind(d.name, cell)
            self.store(cell, (), value, d)
            return
        self.bind(d.name, cell)
        if d.init is not None:
            self._filled(cell, d.init, d)
        elif not local and any(p.iterator is not None for p in (*self.phase, *self.order)):
            self.undefined(cell, d)

    def _names_number(self, d: c_ast.Decl, type: CType) -> bool:
        """Whether it gives a name to a number that nothing changes, and that iterations and
        parameters decide: the name is bound to it."""
        unchanged = "const" in d.quals or d.name not in self.stored
        if d.init is None or not type.whole or not unchanged:
            return False
        value = self.expr(d.init)
        if not isinstance(value[0], Polynomial):
            return False
        number, _ = self.cast(value, type, d)
        if not isinstance(number, Polynomial):
            return False
        self.bind(d.name, Whole(number, type))
        return True

    def _size(self, e: c_ast.Node | None, d: c_ast.Decl) -> int:
        value = self.expr(e)[0] if e is not None else None
        size = value.constant if isinstance(value, Polynomial) else None
        if size is None:
            raise Unmodelled(f"the size of {d.name}", line_of(d))
        return size

    def _filled(self, cell: Cell, init: c_ast.InitList, node: c_ast.Node) -> None:
        """`= {0}`, `= {1, 2, 3}`."""
        nested = any(isinstance(e, c_ast.InitList) for e in init.exprs)
        if len(cell.sizes) == 1 and len(init.exprs) > 1 and not nested:
            self._listed(cell, init.exprs, node)
            return
        flat: c_ast.Node = init
        while isinstance(flat, c_ast.InitList) and len(flat.exprs) == 1:
            flat = flat.exprs[0]
        if not isinstance(flat, c_ast.Constant) or float(flat.value.rstrip("fFuUlL")) != 0:
            raise Unmodelled(f"how {cell.array.name} begins", line_of(node))
        self._everywhere(cell, self.cast((self.number(0), INT), cell.array.type, node), node)

    def _listed(self, cell: Cell, values: Sequence[c_ast.Node], node: c_ast.Node) -> None:
        for at, e in enumerate(values):
            with self.within(order=(*self.order, Position(at))):
                value = self.cast(self.expr(e), cell.array.type, node)
                self.store(cell, (self.number(at),), value, node)
        if len(values) != cell.sizes[0]:
            raise Unmodelled("an array of which only the first elements are given", line_of(node))

    def undefined(self, cell: Cell, node: c_ast.Node) -> None:
        """What a variable held does not count from here on."""
        self._everywhere(cell, (Undefined(cell.array.type), cell.array.type), node)
        self.known.pop(cell.array.name, None)

    def _everywhere(self, cell: Cell, value: Value, node: c_ast.Node) -> None:
        """Stores a value in each element."""
        with self.within():
            places: list[Polynomial] = []
            for size in cell.sizes:
                at = self.new_dimension()
                self.order = (*self.order, Position(iterator=self.dims - 1))
                self.domain = self.domain.intersect(self.between(at, 0, size))
                places.append(Polynomial.of(at))
            v, type = value
            lifted = v.lifted(self.dims) if isinstance(v, Polynomial) else v
            self.store(cell, [p.lifted(self.dims) for p in places], (lifted, type), node)
