"""The statements of a tile of rows whose terms are computed side by side, in place of the loop over
the rows (step `stage-terms`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property

from loopxform.analysis.reductions import operands
from loopxform.ir.affine import simplify, to_expr
from loopxform.ir.names import used_names
from loopxform.ir.nodes import Assign, Bin, Cast, Const, Decl, Expr, For, If, Load, Stmt, Var
from loopxform.ir.types import INT, LONG, Scalar
from loopxform.ir.typing import symbols, type_of
from loopxform.ir.visit import map_exprs, substitute, substitute_body
from loopxform.transforms.edges.bounds import fixed_trips, iteration_number
from loopxform.transforms.reductions.partial import combined, neutral, partial_type
from loopxform.transforms.storage.rows_of_terms import Rows


def staged(found: Rows, size: Expr, parts: Expr | None, step: str) -> tuple[Stmt, ...]:
    """The tile with `size` terms at a time, and with rows that are summed up in so many `parts`
    (None: in order). The terms and what parts of rows come to are the arrays of the tile that its
    iterations share."""
    return (_InOrder if parts is None else _InParts)(found, size, parts, step).body()


class _Tile:
    """What both have in common."""

    def __init__(self, found: Rows, size: Expr, parts: Expr | None, step: str) -> None:
        self.found, self.rows, self.terms, self.size = found, found.rows, found.terms, size
        self.parts, self.kind = parts or Const(1), found.terms.type
        self.origin = found.rows.origin.then(step)
        self.types, self._taken = symbols(found.fn), set(used_names(found.fn))
        k, s = found.terms.var, found.reduction.var
        self.array = self._free(f"{s}_terms")
        ends = [self._free(f"{k}_{part}") for part in ("first", "last", "begin", "end")]
        self.first, self.last, self.begin, self.end = ends
        self.count, self.chunk = self._free(f"{k}_count"), self._free(f"{k}_c")
        self.number = self._free(f"{k}_q")
        self.types |= {**dict.fromkeys(ends, self.kind), self.count: LONG, self.chunk: LONG}

    def _free(self, name: str) -> str:
        while name in self._taken:
            name += "_"
        self._taken.add(name)
        return name

    # ------------------------------------------------------------ between the rows

    def ends(self) -> Iterator[Stmt]:
        """Where the terms of the tile begin and end, and how many there are."""
        first, last = Var(self.first), Var(self.last)
        begin, end = (
            substitute(self.terms.lo, {self.rows.var: e}) for e in (self.rows.lo, self.rows.hi)
        )
        count: Expr = Bin("-", Cast(LONG, last), Cast(LONG, first))
        if self.kind.bytes == LONG.bytes:
            count = Cast(LONG, Bin("-", last, first))
        yield from self._set(self.first, self.kind, begin)
        yield from self._set(self.last, self.kind, Bin("max", self._cast(end), first))
        yield from self._set(self.count, LONG, count)

    def chunks(self, summed: For) -> For:
        """The part of each row that lies in what all rows have between them, `size` terms at a
        time."""
        begin, chunk = Var(self.begin), Var(self.chunk)
        left = Bin("-", Var(self.count), chunk)
        shorter = Bin("min", Cast(LONG, self.size), left)
        body = (
            Decl(self.array, self.found.type, (self.size,), origin=self.origin),
            *self._set(self.begin, self.kind, Bin("+", Var(self.first), chunk)),
            *self._set(self.end, self.kind, Bin("+", begin, shorter)),
            self._filled(Bin("min", self.size, left)),
            summed,
        )
        return self._loop(self.chunk, Var(self.count), body, step=self.size, type=LONG)

    def _filled(self, count: Expr) -> For:
        """The terms, side by side."""
        place = {self.terms.var: Bin("+", Var(self.begin), Var(self.number))}
        value = substitute(self.found.term, dict(place))
        target = Load(self.array, (Var(self.number),))
        store = Assign(target, value, label=f"stage_{self.array}", origin=self.origin)
        computed = substitute_body(self.found.computed, dict(place))
        return self._loop(self.number, count, (*computed, store), parallel=True)

    def before(self) -> For:
        """The terms that a row has before those of the tile."""
        end = Bin("min", self._cast(self.terms.hi), Var(self.first))
        return replace(self.terms, hi=end, asks=None)

    def after(self) -> For:
        """Those that it has after them."""
        return replace(
            self.terms, lo=Bin("max", self._cast(self.terms.lo), Var(self.last)), asks=None
        )

    def part_of_row(self, here: dict[str, Expr], first: Expr, apart: Expr) -> tuple[Stmt, ...]:
        """The updates of a row, whose number is `here`, by terms that are there: by the `first` of
        them and those that are so far `apart`."""
        k = self.terms.var
        start, stop, var = (self._free(f"{k}_{part}") for part in ("from", "to", "s"))
        lo, hi = (self._place(substitute(e, dict(here))) for e in (self.terms.lo, self.terms.hi))
        body = (self._with_term(Var(var)),)
        loop = For(var, Var(start), Var(stop), apart, body, type=INT, origin=self.origin)
        begin = simplify(Bin("+", lo, first))
        return (*self._set(start, INT, begin), *self._set(stop, INT, hi), loop)

    def _place(self, e: Expr) -> Expr:
        """How far a bound of a row is from the first of the terms that are there."""
        inside = Bin("min", Bin("max", self._cast(e), Var(self.begin)), Var(self.end))
        return self._cast(Bin("-", inside, Var(self.begin)), INT)

    # ------------------------------------------------------------ statements

    def _with_term(self, place: Expr) -> Stmt:
        """The update by a term that is there already."""
        term = Load(self.array, (place,))
        swap = self.found.term
        (update,) = map_exprs((self.found.update,), lambda e: term if e == swap else e)
        return update

    def _cast(self, e: Expr, kind: Scalar | None = None) -> Expr:
        """A value in a type that has it, by default that of the loop over terms."""
        kind = kind or self.kind
        return e if type_of(e, self.types) == kind else Cast(kind, e)

    def _set(self, name: str, kind: Scalar, value: Expr) -> tuple[Stmt, ...]:
        value = self._cast(value, kind)
        store = Assign(Var(name), value, label=f"set_{name}", origin=self.origin)
        return Decl(name, kind, origin=self.origin), store

    def _loop(
        self,
        var: str,
        end: Expr,
        body: tuple[Stmt, ...],
        *,
        step: Expr | None = None,
        type: Scalar = INT,
        parallel: bool = False,
    ) -> For:
        apart = step or Const(1)
        return For(
            var, Const(0), end, apart, body, type=type, parallel=parallel, origin=self.origin
        )

    @cached_property
    def height(self) -> Expr:
        """How many rows a tile has at most."""
        fixed = fixed_trips(self.rows)
        assert fixed is not None
        return to_expr(fixed[0])


class _InOrder(_Tile):
    """Each row keeps what it has set so far in elements of its own."""

    def body(self) -> tuple[Stmt, ...]:
        declared = [s for s in self.found.before if isinstance(s, Decl)]
        self.own = {s.name: self._free(f"{s.name}_own") for s in declared}
        rest = (s for s in self.found.before if not isinstance(s, Decl))
        return (
            *self.ends(),
            *(Decl(x, self.types[n], (self.height,), origin=self.origin)
              for n, x in self.own.items()),
            self._of_rows((*rest, self.before())),
            self.chunks(self._of_rows(self.part_of_row({}, Const(0), Const(1)))),
            self._of_rows((self.after(), *self.found.after)),
        )  # fmt: skip

    def _of_rows(self, body: tuple[Stmt, ...]) -> For:
        """A loop over the rows, each with what it has set so far."""
        number = (iteration_number(self.rows),)
        own = {n: Load(x, number) for n, x in self.own.items()}
        inside = map_exprs(body, lambda e: own.get(e.name, e) if isinstance(e, Var) else e)
        return replace(self.rows, body=inside, asks=None, origin=self.origin)


class _InParts(_Tile):
    """The parts of rows are numbered through: a row has those of `parts` neighbours."""

    def body(self) -> tuple[Stmt, ...]:
        s = self.found.reduction
        self.updates = operands(self.found.fn, s)
        self.part_type = partial_type(s.var, s.op, self.updates, self.types)
        self.own, self.part = self._free(f"{s.var}_own"), self._free(f"{s.var}_part")
        self.item, self.which = self._free(f"{self.rows.var}_p"), self._free(f"{s.var}_which")
        self.types |= {self.item: INT}
        every = Bin("*", self.height, self.parts)
        own, item = Load(self.own, (Var(self.item),)), Var(self.item)
        first = neutral(s.op, self.updates, self.part_type)
        return (
            *self.ends(),
            *(Decl(n, self.part_type, (every,), origin=self.origin) for n in (self.own, self.part)),
            self._of_parts(Assign(own, first, label=f"begin_{self.own}", origin=self.origin)),
            self.chunks(self._of_parts(self._summed(own))),
            self._of_parts(
                Assign(Load(self.part, (item,)), own, label=f"store_{self.own}", origin=self.origin)
            ),
            replace(
                self.rows,
                body=(
                    *self.found.before,
                    self.before(),
                    self._combined(),
                    self.after(),
                    *self.found.after,
                ),
                asks=None,
                origin=self.origin,
            ),
        )

    def _of_parts(self, s: Stmt) -> For:
        every = Bin("*", self.height, self.parts)
        return self._loop(self.item, every, (s,), parallel=True)

    def _summed(self, own: Load) -> Stmt:
        """Each `parts`-th of the terms of a row, where there is such a row."""
        row = Bin("+", self.rows.lo, Bin("/", Var(self.item), self.parts))
        first = Bin("%", Var(self.item), self.parts)
        name = Var(self.found.reduction.var)
        part = self.part_of_row({self.rows.var: row}, first, self.parts)
        mine = map_exprs(part, lambda e: own if e == name else e)
        return If(Bin("<", row, self.rows.hi), mine, origin=self.origin)

    def _combined(self) -> For:
        """A row and its parts, one after the other."""
        s = self.found.reduction
        number = Bin("*", iteration_number(self.rows), self.parts)
        part = Load(self.part, (simplify(Bin("+", number, Var(self.which))),))
        update = combined(s.var, s.op, self.updates, part, f"combine_{s.var}")
        return self._loop(self.which, self.parts, (update,))
