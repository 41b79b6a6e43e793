"""Loops that end where data say so: one value made of the whole loop.

    n = 0;                                   n = fold of 0
    while (n < most && z < 4) {                  while (n' < most && z' < 4)
      z = z * z + c;                               n' + 1
      n++;
    }

What the loop changes are variables alone; in its condition and in what an iteration makes of them
they are symbols. Two folds are equal where they begin alike, go on alike and make the same of each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from pycparser import c_ast

from loopxform.validate import expressions as ex
from loopxform.validate.ctypes import CType
from loopxform.validate.model import Expr, Fold, Position, Symbol, Undefined, nodes
from loopxform.validate.reading.desugar import whole_number
from loopxform.validate.reading.loops import Loops
from loopxform.validate.reading.syntax import construct, has_barrier, line_of, sole, stored_in
from loopxform.validate.reading.values import Cell
from loopxform.validate.unmodelled import Unmodelled

STOPPED = "stopped"
"""Stands for a `break` that an iteration came to."""


@dataclass
class Folds(Loops):
    def fold(self, s: c_ast.For | c_ast.While) -> None:
        """Raises Unmodelled for a loop that does more than change variables."""
        if self.in_phase and has_barrier(s):
            raise Unmodelled("a barrier in a loop that ends where data say so", line_of(s))
        order = self.order
        if isinstance(s, c_ast.For) and s.init is not None:
            self.order = (*order, Position(0))
            self._first(s.init)
        cells = self._carried(s)
        self.order = (*order, Position(1))
        begins = {n: self._saved(n, c, s) for n, c in cells.items()}
        body = [s.stmt, *([s.next] if isinstance(s, c_ast.For) and s.next is not None else [])]
        with self.within():
            turn = Turn(self, {n: c.array.type for n, c in cells.items()})
            condition = turn.condition(s.cond)
            ends = turn.run(body)
        self.order = (*order, Position(2))
        for name, cell in cells.items():
            value = folded(name, list(cells), begins, condition, ends)
            self.store(cell, (), (value, cell.array.type), s)
            self.known.pop(cell.array.name, None)
        self.order = order

    def _first(self, init: c_ast.Node) -> None:
        for d in init.decls if isinstance(init, c_ast.DeclList) else (init,):
            if isinstance(d, c_ast.Decl):
                type, _ = self.declared(d.type)
                cell = self.new_cell(d.name, type, (), "private", line_of(d))
                value = self.cast(self.expr(d.init), type, d)
                self.bind(d.name, cell)
                self.store(cell, (), value, d)
            elif isinstance(d, c_ast.Assignment):
                self.assignment(d.lvalue, d.op, d.rvalue, d)
            else:
                raise Unmodelled(construct(d), line_of(d))

    def _carried(self, s: c_ast.For | c_ast.While) -> dict[str, Cell]:
        """The variables around a loop that it stores to."""
        cells: dict[str, Cell] = {}
        for name in sorted(stored_in(s)):
            found = next((scope[name] for scope in reversed(self.scopes) if name in scope), None)
            if isinstance(found, Cell) and not found.sizes and found.array.kind == "private":
                cells[name] = found
            elif found is not None:
                raise Unmodelled(f"a loop that data end and that stores to {name}", line_of(s))
        return cells

    def _saved(self, name: str, cell: Cell, s: c_ast.Node) -> Expr:
        """What a variable holds in front of the loop, in one that keeps it."""
        kept = self.new_cell(f"{name}.before", cell.array.type, (), "private", line_of(s))
        held = self.known.get(cell.array.name)
        value = self.element(cell, (), s) if held is None else held.lifted(self.dims)
        self.store(kept, (), (value, cell.array.type), s)
        return self.element(kept, (), s)


def folded(
    name: str, names: Sequence[str], begins: dict[str, Expr], condition: Expr, ends: dict[str, Expr]
) -> Fold:
    """What a variable holds behind the loop, with the others that it follows from."""
    needed, todo = [name], [condition, ends[name], ends[STOPPED]]
    while todo:
        for x in nodes(todo.pop()):
            if isinstance(x, Symbol) and x.name not in needed and x.name in names:
                needed.append(x.name)
                todo.append(ends[x.name])
    return Fold(
        tuple(needed),
        tuple(begins[n] for n in needed),
        condition,
        ends[STOPPED],
        tuple(ends[n] for n in needed),
        ends[name].type,
    )


@dataclass
class Turn:
    """One iteration: what it makes of the symbols of the variables."""

    reader: Folds
    types: dict[str, CType]
    values: dict[str, Expr] = field(default_factory=dict)
    carried: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        self.carried = frozenset(self.types)
        for name, type in self.types.items():
            self.assign(name, Symbol(name, type))
        self.values[STOPPED] = self.reader.whole(0)

    def assign(self, name: str, value: Expr) -> None:
        self.values[name] = value
        self.reader.bind(name, value)

    def condition(self, e: c_ast.Node | None) -> Expr:
        """Raises Unmodelled where iterations decide it on parts of the domain."""
        if e is None:
            return self.reader.whole(1)
        pieces = self.reader.condition(e)
        if len(pieces) != 1:
            raise Unmodelled("a condition that data and iterations decide", line_of(e))
        ((_, holds),) = pieces
        return self.reader.whole(int(holds)) if isinstance(holds, bool) else holds

    def run(self, items: Sequence[c_ast.Node]) -> dict[str, Expr]:
        """What the variables hold behind these statements."""
        for at, s in enumerate(items):
            match s:
                case c_ast.Compound():
                    inner = list(s.block_items or ())
                    return self.run([*inner, *items[at + 1 :]])
                case c_ast.Decl():
                    self._declared(s)
                case c_ast.DeclList():
                    for d in s.decls:
                        self._declared(d)
                case c_ast.Assignment() if isinstance(s.lvalue, c_ast.ID):
                    self._assigned(s.lvalue.name, s.op, s.rvalue, s)
                case c_ast.UnaryOp() if s.op.strip("p") in ("++", "--") and isinstance(
                    s.expr, c_ast.ID
                ):
                    self._assigned(s.expr.name, s.op.strip("p")[0] + "=", whole_number(1), s)
                case c_ast.If() if isinstance(sole(s.iftrue), c_ast.Break) and s.iffalse is None:
                    said = self.condition(s.cond)
                    before = {**self.values, STOPPED: self.reader.whole(1)}
                    return self._either(said, before, self.run(items[at + 1 :]))
                case c_ast.If():
                    said = self.condition(s.cond)
                    start = dict(self.values)
                    then = self.run([s.iftrue])
                    self._back(start)
                    other = self.run([s.iffalse]) if s.iffalse is not None else start
                    self._back(self._either(said, then, other))
                case c_ast.EmptyStatement() | c_ast.Pragma():
                    pass
                case c_ast.Assignment() | c_ast.UnaryOp():
                    raise Unmodelled("a store to an array in a loop that data end", line_of(s))
                case _:
                    raise Unmodelled(construct(s), line_of(s))
        return dict(self.values)

    def _back(self, values: dict[str, Expr]) -> None:
        for name, value in values.items():
            if name == STOPPED:
                self.values[name] = value
            else:
                self.assign(name, value)

    def _either(self, said: Expr, a: dict[str, Expr], b: dict[str, Expr]) -> dict[str, Expr]:
        out: dict[str, Expr] = {}
        for name, value in a.items():
            other = b.get(name, value)
            same = value is other or ex.same(value, other)
            out[name] = value if same else ex.operation("?:", (said, value, other), value.type)
        return out

    def _declared(self, d: c_ast.Decl) -> None:
        type, dims = self.reader.declared(d.type)
        if d.name in self.carried:
            raise Unmodelled(f"two variables {d.name}", line_of(d))
        if dims:
            raise Unmodelled("an array in a loop that data end", line_of(d))
        self.types[d.name] = type
        if d.init is None:
            self.assign(d.name, Undefined(type))
        else:
            value = self.reader.cast(self.reader.expr(d.init), type, d)
            self.assign(d.name, self.reader.expression(value, d))

    def _assigned(self, name: str, op: str, value: c_ast.Node, s: c_ast.Node) -> None:
        type = self.types.get(name)
        if type is None:
            raise Unmodelled(f"a store to {name} in a loop that data end", line_of(s))
        right = self.reader.expr(value)
        if op != "=":
            right = self.reader.binary(op[:-1], (self.values[name], type), right, s)
        self.assign(name, self.reader.expression(self.reader.cast(right, type, s), s))
