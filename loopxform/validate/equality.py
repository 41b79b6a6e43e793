"""Whether two programs store the same values: a bisimulation of their dataflow.

The values that both leave in a cell must be equal; an operation is equal to another where it has
the same name and equal operands, and a read is the value that was stored last. So pairs of
expressions are collected with the instances for which they must be equal, until nothing new comes
up. Sums bring up one more pair for each iteration: there the relation is widened to its affine
hull, and what is asked of the hull is asked of more pairs than need be (Verdoolaege, Janssens and
Bruynooghe, "Equivalence checking of static affine programs using widening to handle recurrences",
2009).

That all pairs are equal follows by induction over the two executions: each read leads to an
instance that ran earlier.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import islpy as isl

from loopxform.validate.expressions import COMMUTATIVE, described, same_number, turned
from loopxform.validate.flags import Flags
from loopxform.validate.flow import Flow, Sources
from loopxform.validate.model import (
    Cases,
    Expr,
    Fold,
    Gather,
    Number,
    Operation,
    Read,
    Scalar,
    Statement,
    Symbol,
    Whole,
    nodes,
)
from loopxform.validate.reductions import is_empty_sum, paired, sum_of


class Different(Exception):
    """`what` of the kernel is not shown to be what the user's program has. Lines: of both."""

    def __init__(self, what: str, user: int, kernel: int) -> None:
        super().__init__(what)
        self.what, self.user, self.kernel = what, user, kernel


@dataclass(frozen=True, eq=False)
class Side:
    """An expression of a statement; what an array held at the start has no statement."""

    statement: Statement | None
    expr: Expr | None
    array: str = ""
    cells: isl.Map | None = None

    @property
    def line(self) -> int:
        if self.statement is not None and self.statement.line:
            return self.statement.line
        return 0


@dataclass
class Pair:
    """Two expressions, and the instances for which they must be equal."""

    user: Side
    kernel: Side
    relation: isl.Map
    visits: int = 0


@dataclass
class Comparison:
    """Collects what must be equal. `same_at_start` are the arrays that both begin with."""

    user: Flow
    kernel: Flow
    pairs: dict[tuple[int, int], Pair] = field(default_factory=dict)
    work: list[tuple[int, int]] = field(default_factory=list)
    gathered: dict[int, isl.Set] = field(default_factory=dict)
    """By site, the instances of the kernel for which the user's program reads the same place."""

    def __post_init__(self) -> None:
        self.user_flags, self.kernel_flags = Flags(self.user), Flags(self.kernel)

    def arrays(self, name: str, cells: isl.Set) -> None:
        """What both leave in these cells of an array. Raises Different."""
        a, b = self.user.last(name, cells), self.kernel.last(name, cells)
        end = isl.Map.identity(isl.Space.map_from_set(cells.get_space())).intersect_domain(cells)
        end = end.set_tuple_name(isl.dim_type.in_, "end").set_tuple_name(isl.dim_type.out, "end")
        here = isl.Map.identity(isl.Space.map_from_set(cells.get_space())).set_tuple_name(
            isl.dim_type.in_, "end"
        )
        for x, first in self._followed(a, name, here, None):
            for y, second in self._followed(b, name, here, None):
                relation = first.reverse().apply_range(end).apply_range(second)
                self.equal(x, y, relation)
        self.finish()

    def finish(self) -> None:
        while self.work:
            key = self.work.pop()
            pair = self.pairs[key]
            self._descend(pair.user, pair.kernel, pair.relation)

    def _followed(
        self, sources: Sources, array: str, cells: isl.Map, read: Read | None
    ) -> list[tuple[Side, isl.Map]]:
        """What a read stands for: stored values, with the map from the reading to the storing
        instances, and the start, where the reading instances stand for themselves."""
        out: list[tuple[Side, isl.Map]] = []
        for w, m in sources.stores:
            out.append((self._root(w), m))
        if not sources.start.is_empty():
            same = isl.Map.identity(isl.Space.map_from_set(sources.start.get_space()))
            side = self._start(array, cells, read)
            out.append((side, same.intersect_domain(sources.start)))
        return out

    roots: dict[int, Side] = field(default_factory=dict)
    starts: dict[int, Side] = field(default_factory=dict)

    def _root(self, w: Statement) -> Side:
        return self.roots.setdefault(id(w), Side(w, w.value))

    def _start(self, array: str, cells: isl.Map, read: Read | None) -> Side:
        if read is None:
            return Side(None, None, array, cells)
        return self.starts.setdefault(id(read), Side(None, None, array, cells))

    def equal(self, a: Side, b: Side, relation: isl.Map) -> None:
        """Asks for the equality of two values, which both are at the root of a statement or the
        start of an array."""
        if relation.is_empty():
            return
        key = (id(a), id(b))
        pair = self.pairs.get(key)
        if pair is None:
            self.pairs[key] = Pair(a, b, relation.coalesce(), 1)
            self.work.append(key)
            return
        if relation.is_subset(pair.relation):
            return
        pair.visits += 1
        if pair.visits > MOST_VISITS:
            raise Different("a recurrence that the validator does not close", a.line, b.line)
        pair.relation = pair.relation.union(relation).coalesce()
        if recurs(a) and recurs(b):
            pair.relation = widened(pair.relation, a, b)
        if key not in self.work:
            self.work.append(key)

    reordering: bool = False
    """Whether sums of whole numbers may be in another order."""

    def _descend(self, a: Side, b: Side, relation: isl.Map) -> None:
        if self.reordering and self._same_sums(a, b, relation):
            return
        self._match(a, a.expr, b, b.expr, relation)

    def _same_sums(self, a: Side, b: Side, relation: isl.Map) -> bool:
        """Whether both are sums with the same summands, whose equality is asked for then."""
        w, v = a.statement, b.statement
        if w is None or v is None or a.expr is not w.value or b.expr is not v.value:
            return False
        x, y = sum_of(self.user, w), sum_of(self.kernel, v)
        if x is None and y is not None and a.expr is not None:
            return is_empty_sum(y, a.expr, relation.range())
        if x is None or y is None or x.operator != y.operator:
            return False
        pairs = paired(x, y, self.user, self.kernel, relation)
        if pairs is None:
            return False
        for (s, e), (t, f), pairing in pairs:
            self._match(self._part(self._root(s), e), e, self._part(self._root(t), f), f, pairing)
        return True

    def _match(self, a: Side, x: Expr | None, b: Side, y: Expr | None, relation: isl.Map) -> None:
        if relation.is_empty():
            return
        if isinstance(x, Cases):
            require_covered(relation.domain(), x.covered, a, b)
            for where, e in x.pieces:
                self._match(a, e, b, y, relation.intersect_domain(where))
            return
        if isinstance(y, Cases):
            require_covered(relation.range(), y.covered, a, b)
            for where, e in y.pieces:
                self._match(a, x, b, e, relation.intersect_range(where))
            return
        if isinstance(x, Read):
            assert a.statement is not None
            sources = self.user.sources(a.statement, x)
            require_covered(relation.domain(), sources.known, a, b)
            for side, m in self._followed(sources, x.array, x.cells, x):
                self._from(side, m, a, b, y, relation, user=True)
            return
        if isinstance(y, Read):
            assert b.statement is not None
            sources = self.kernel.sources(b.statement, y)
            require_covered(relation.range(), sources.known, a, b)
            for side, m in self._followed(sources, y.array, y.cells, y):
                self._from(side, m, a, b, x, relation, user=False)
            return
        self._leaves(a, x, b, y, relation)

    def _from(
        self,
        side: Side,
        m: isl.Map,
        a: Side,
        b: Side,
        other: Expr | None,
        relation: isl.Map,
        *,
        user: bool,
    ) -> None:
        """Goes on with what a read stands for."""
        if user:
            step = m.reverse().apply_range(relation)
            first, second = side, self._part(b, other)
        else:
            step = relation.apply_range(m)
            first, second = self._part(a, other), side
        if side.statement is not None:
            self.equal(first, second, step)
        else:
            self._match(first, first.expr, second, second.expr, step)

    parts: dict[tuple[int, int], Side] = field(default_factory=dict)

    def _part(self, s: Side, e: Expr | None) -> Side:
        if e is s.expr:
            return s
        return self.parts.setdefault((id(s), id(e)), Side(s.statement, e, s.array, s.cells))

    def _leaves(self, a: Side, x: Expr | None, b: Side, y: Expr | None, relation: isl.Map) -> None:
        match x, y:
            case None, None:
                self._same_start(a, b, relation)
            case Whole(), Whole():
                self._same_number(a, x, b, y, relation)
            case Number(), Number():
                self._same_constant(a, x, b, y)
            case (Scalar(), Scalar()) if x.name != y.name:
                raise Different(f"{y.name}, not {x.name}", a.line, b.line)
            case Scalar(), Scalar():
                pass
            case (Symbol(), Symbol()) if (x.name, y.name) not in self.symbols:
                raise Different(f"the variable {y.name}, not {x.name}", a.line, b.line)
            case Symbol(), Symbol():
                pass
            case (Fold(), Fold()) if len(x.names) == len(y.names):
                self._same_fold(a, x, b, y, relation)
            case (Gather(), Gather()) if x.array == y.array:
                self._same_place(a, x, b, y, relation)
            case _:
                self._same_operation(a, x, b, y, relation)

    def _same_constant(self, a: Side, x: Number, b: Side, y: Number) -> None:
        if not same_number(x.value, y.value):
            raise Different(f"the number {y.value:g}, not {x.value:g}", a.line, b.line)
        if x.type != y.type:
            raise Different("a number of another type", a.line, b.line)

    def _same_place(self, a: Side, x: Gather, b: Side, y: Gather, relation: isl.Map) -> None:
        reached = relation.range().reset_tuple_id()
        before = self.gathered.get(y.site)
        self.gathered[y.site] = reached if before is None else before.union(reached)
        self._match(a, x.index, b, y.index, relation)

    def _same_operation(
        self, a: Side, x: Expr | None, b: Side, y: Expr | None, relation: isl.Map
    ) -> None:
        """Of the same name and type, with equal operands; where one says nothing more than its
        operand, that counts."""
        first, second = self.user_flags.condition(x), self.kernel_flags.condition(y)
        if first is not None or second is not None:
            self._match(a, first or x, b, second or y, relation)
            return
        if not (isinstance(x, Operation) and isinstance(y, Operation) and _alike(x, y)):
            raise Different(f"{described(y, b.array)}, not {described(x, a.array)}", a.line, b.line)
        operands = y.operands
        if x.name in COMMUTATIVE and turned(x, y):
            operands = operands[::-1]
        for e, f in zip(x.operands, operands):
            self._match(a, e, b, f, relation)

    symbols: frozenset[tuple[str, str]] = frozenset()
    """Variables of two loops that hold the same in each iteration."""

    def _same_fold(self, a: Side, x: Fold, b: Side, y: Fold, relation: isl.Map) -> None:
        outer, self.symbols = self.symbols, frozenset(zip(x.names, y.names))
        for e, f in zip((x.condition, x.stopped, *x.ends), (y.condition, y.stopped, *y.ends)):
            self._match(a, e, b, f, relation)
        self.symbols = outer
        for e, f in zip(x.begins, y.begins):
            self._match(a, e, b, f, relation)

    def read_alike(self, s: Statement, e: Gather, seen: isl.Set) -> isl.Map:
        """Instances of a statement that read, at a place that data name, what one of those `seen`
        reads as well."""
        pairs = isl.Map.universe(isl.Space.map_from_set(s.domain.get_space()))
        pairs = pairs.intersect_domain(s.domain).intersect_range(seen)
        for x in nodes(e.index):
            if isinstance(x, Whole):
                for v in x.value.terms.values():
                    pairs = pairs.intersect(v.eq_map(v))
            elif isinstance(x, Read):
                alike = isl.Map.empty(pairs.get_space())
                for _, m in origins(self.kernel, s, x):
                    alike = alike.union(m.apply_range(m.reverse()))
                pairs = pairs.intersect(alike)
            elif isinstance(x, Cases):
                return isl.Map.empty(pairs.get_space())
        return pairs

    def _same_start(self, a: Side, b: Side, relation: isl.Map) -> None:
        if a.array != b.array:
            raise Different(f"{b.array}, not {a.array}", a.line, b.line)
        assert a.cells is not None
        assert b.cells is not None
        equal = a.cells.apply_range(b.cells.reverse())
        if not relation.is_subset(equal):
            raise Different(f"another element of {b.array}", a.line, b.line)

    def _same_number(self, a: Side, x: Whole, b: Side, y: Whole, relation: isl.Map) -> None:
        for m in {**x.value.terms, **y.value.terms}:
            p, q = x.value.terms.get(m), y.value.terms.get(m)
            if p is None or q is None:
                one = p if p is not None else q
                assert one is not None
                where = one.eq_set(one.sub(one))
                part = (
                    relation.intersect_domain(where)
                    if p is not None
                    else relation.intersect_range(where)
                )
                if not relation.is_subset(part):
                    raise Different("another number", a.line, b.line)
            elif not relation.is_subset(p.eq_map(q)):
                raise Different("another number", a.line, b.line)


MOST_VISITS = 40
"""Of a pair, before it is given up."""


def recurs(s: Side) -> bool:
    """Whether it is a stored value that more than a copy made."""
    return s.statement is not None and s.expr is s.statement.value and not isinstance(s.expr, Read)


def require_covered(asked: isl.Set, known: isl.Set, a: Side, b: Side) -> None:
    """Nothing that must be equal is left out because nobody knows what it is. Raises Different."""
    if not asked.is_subset(known):
        raise Different("a value of which it is not known where it comes from", a.line, b.line)


def origins(flow: Flow, s: Statement, read: Read) -> list[tuple[str, isl.Map]]:
    """What a read goes back to through copies: statements and arrays, by the reading instances."""
    sources = flow.sources(s, read)
    out: list[tuple[str, isl.Map]] = []
    if not sources.start.is_empty():
        out.append((read.array, read.cells.intersect_domain(sources.start)))
    for w, m in sources.stores:
        if isinstance(w.value, Read):
            out += [(n, m.apply_range(x)) for n, x in origins(flow, w, w.value)]
        else:
            out.append((w.name, m))
    return out


def widened(relation: isl.Map, a: Side, b: Side) -> isl.Map:
    """A relation that the next iterations stay in: the affine hull, within both domains."""
    hull = isl.Map.from_basic_map(relation.affine_hull())
    for side, narrow in ((a, hull.intersect_domain), (b, None)):
        domain = side.statement.domain if side.statement is not None else None
        if domain is None and side.cells is not None:
            domain = side.cells.domain()
        if domain is None:
            continue
        hull = narrow(domain) if narrow is not None else hull.intersect_range(domain)
    return hull


def _alike(x: Operation, y: Operation) -> bool:
    return x.name == y.name and len(x.operands) == len(y.operands) and x.type == y.type
