"""From pycparser's tree of a function to statements with their instances.

One reader serves the user's C and kernels: what differs (work-items, barriers, where the arrays
come from) is bound by `user` and `kernel`. Whole numbers that follow from iterations and parameters
are followed through variables; every other variable is a cell that statements store to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import islpy as isl
from pycparser import c_ast

from loopxform.validate import expressions as ex
from loopxform.validate.ctypes import BOOL, INT, LONG, CType, common, named, promoted
from loopxform.validate.model import (
    Array,
    Barrier,
    Expr,
    Gather,
    Number,
    Position,
    Program,
    Read,
    Scalar,
    Statement,
    Whole,
)
from loopxform.validate.polynomials import (
    ONE,
    Plain,
    Polynomial,
    added,
    constant_of,
    multiplied,
    plain,
    split,
)
from loopxform.validate.unmodelled import Unmodelled

Pieces = list[tuple[isl.Set, bool | Expr]]
"""A condition: on which part of the domain it holds, does not, or data decide."""


@dataclass(frozen=True)
class Cell:
    """A variable or an array that a name stands for."""

    array: Array
    extents: tuple[Any, ...] = ()
    """Of the declaration, as numbers; for arrays of the caller those of `array` hold."""
    depth: int = 0
    """Of the conditions around its declaration."""


Binding = Polynomial | Cell | Expr
Value = tuple[Any, CType]
"""A Polynomial where it follows from iterations and parameters, Digits, else an Expr."""


@dataclass(frozen=True)
class Digits:
    """A number written in digits of several sizes, the first counts most: of the groups of a launch
    that are counted by a product. Their sizes are parameters, so the number is no affine one."""

    digits: tuple[tuple[Polynomial, Polynomial], ...]
    divisors: tuple[Polynomial, ...] = ()
    """By which it is divided as well."""

    def lifted(self, dims: int) -> Digits:
        digits = tuple((d.lifted(dims), s.lifted(dims)) for d, s in self.digits)
        return Digits(digits, tuple(d.lifted(dims) for d in self.divisors))


@dataclass
class Reader:
    """Reads one function into `program`. `own` are the dimensions of groups and items, which stand
    in front of the subscripts of cells that are private or local."""

    program: Program
    parameters: tuple[str, ...]
    functions: dict[str, c_ast.FuncDef] = field(default_factory=dict)
    call: Callable[[Reader, str, list[c_ast.Node], c_ast.Node], Value | None] | None = None
    prefix: str = ""
    strides: dict[str, list[Plain]] = field(default_factory=dict)
    scopes: list[dict[str, Binding]] = field(default_factory=lambda: [{}])
    domain: isl.Set = None
    launch: tuple[Position, ...] = ()
    phase: tuple[Position, ...] = ()
    order: tuple[Position, ...] = ()
    groups: tuple[int, ...] = ()
    items: tuple[int, ...] = ()
    in_phase: bool = False
    in_kernel: bool = False
    recording: bool = False
    """Only looks which strides arrays have."""

    def __post_init__(self) -> None:
        if self.domain is None:
            self.domain = isl.Set.universe(self.program.space)

    # ---------------------------------------------------------------- numbers

    @property
    def dims(self) -> int:
        return int(self.domain.dim(isl.dim_type.set))

    def number(self, value: int) -> Polynomial:
        space = isl.LocalSpace.from_space(self.domain.get_space())
        constant = isl.Val.read_from_str(space.get_ctx(), str(value))
        return Polynomial({ONE: isl.PwAff.from_aff(isl.Aff.zero_on_domain(space).set_constant_val(constant))})

    def parameter(self, name: str) -> Polynomial:
        space = self.domain.get_space()
        at = space.find_dim_by_name(isl.dim_type.param, name)
        if at < 0:
            at = space.dim(isl.dim_type.param)
            space = space.add_dims(isl.dim_type.param, 1)
            space = space.set_dim_name(isl.dim_type.param, at, name)
        aff = isl.Aff.var_on_domain(isl.LocalSpace.from_space(space), isl.dim_type.param, at)
        return Polynomial({ONE: isl.PwAff.from_aff(aff)})

    def quotient_of(self, x: Polynomial, n: int) -> Polynomial | None:
        """x / n, where what iterations decide of it is a multiple of n."""
        a = x.affine
        if a is None or a.n_piece() != 1:
            return None
        ((_, aff),) = a.get_pieces()
        if aff.dim(isl.dim_type.div) or not aff.get_denominator_val().is_one():
            return None
        moving = self.number(0)
        for d in range(aff.dim(isl.dim_type.in_)):
            c = int(aff.get_coefficient_val(isl.dim_type.in_, d).to_python())
            if c % n:
                return None
            if c:
                moving = added(moving, multiplied(self.dimension(d), self.number(c)))
        q = self.quotient(added(x, moving, -1), n)
        v = moving.affine
        assert v is not None
        if q is None:
            return None
        return added(q, Polynomial({ONE: v.scale_down_val(isl.Val(n))}))

    def quotient(self, x: Polynomial, n: int) -> Polynomial | None:
        """x / n for an x that parameters alone decide, as a parameter of its own: isl sees less in
        a quotient than in a name for it. Rounded down."""
        known = plain(x)
        if known is None or x.affine is None or set(map(len, known)) - {0, 1}:
            return None
        name = f"{'+'.join(f'{c}*{m[0]}' if m else str(c) for m, c in sorted(known.items()))}/{n}"
        name = f"q[{name}]".replace("+-", "-")
        q = self.parameter(name)
        a, b = x.affine, q.affine
        assert a is not None and b is not None
        rest = a.sub(b.scale_val(isl.Val(n)))
        low, high = self.number(0).affine, self.number(n).affine
        meaning = rest.ge_set(low).intersect(rest.lt_set(high))
        self.domain = self.domain.intersect(meaning)
        self.program.quotients = self.program.quotients.intersect(meaning.params())
        return q

    def dimension(self, at: int) -> Polynomial:
        space = isl.LocalSpace.from_space(self.domain.get_space())
        return Polynomial(
            {ONE: isl.PwAff.from_aff(isl.Aff.var_on_domain(space, isl.dim_type.set, at))}
        )

    def polynomial(self, size: Plain) -> Polynomial:
        total = self.number(0)
        for m, c in size.items():
            term = self.number(c)
            for name in m:
                term = multiplied(term, self.parameter(name))
            total = added(total, term)
        return total

    def new_dimension(self, name: str) -> Polynomial:
        """Adds a dimension to the domain."""
        at = self.dims
        self.domain = self.domain.add_dims(isl.dim_type.set, 1)
        return self.dimension(at)

    # ---------------------------------------------------------------- names

    def find(self, name: str, node: c_ast.Node) -> Binding:
        for scope in reversed(self.scopes):
            if name in scope:
                found = scope[name]
                return found.lifted(self.dims) if isinstance(found, Polynomial) else found
        raise Unmodelled(f"the name {name}", line_of(node))

    known: dict[str, Polynomial] = field(default_factory=dict)
    """What whole variables hold here, where iterations and parameters decide it."""

    def keep(self, cell: Cell, value: Any) -> None:
        """What a variable holds from here on."""
        if cell.extents or not cell.array.type.whole or cell.array.kind != "private":
            return
        if isinstance(value, Polynomial) and value.affine is not None and not self.flags[cell.depth :]:
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

    def met(self, ways: list[tuple[isl.Set, dict[str, Polynomial]]]) -> dict[str, Polynomial]:
        """What variables hold where several ways meet, each on its part of the domain."""
        out: dict[str, Polynomial] = {}
        for name in set.intersection(*(set(k) for _, k in ways)) if ways else ():
            values = [k[name] for _, k in ways]
            if all(v is values[0] for v in values):
                out[name] = values[0]
                continue
            total = None
            for where, k in ways:
                part = k[name].lifted(self.dims).affine
                assert part is not None
                part = part.intersect_domain(where)
                total = part if total is None else total.union_add(part)
            out[name] = Polynomial({ONE: total.coalesce()})
        return out

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

    def new_cell(self, name: str, type: CType, extents: Sequence[int], kind: str, line: int) -> Cell:
        n = sum(1 for a in self.program.arrays if a.partition("#")[0] == f"{self.prefix}{name}")
        array = Array(
            f"{self.prefix}{name}#{n}", kind, type, tuple({ONE: e} if e else {} for e in extents), line
        )
        self.program.arrays[array.name] = array
        return Cell(array, tuple(extents), len(self.flags))

    # ---------------------------------------------------------------- statements

    def block(self, items: Sequence[c_ast.Node] | None) -> None:
        items = list(items or ())
        for at, s in enumerate(items):
            if isinstance(s, c_ast.If) and (skipped := _before_continue(s.iftrue)) is not None:
                rest = [*([s.iffalse] if s.iffalse is not None else []), *items[at + 1 :]]
                then, other = c_ast.Compound(skipped), c_ast.Compound(rest)
                self.placed(at, c_ast.If(s.cond, then, other, s.coord))
                return
            counting = self.counting(s, items[:at])
            if counting is not None:
                s = counting
            self.placed(at, s)

    def counting(self, s: c_ast.Node, before: list[c_ast.Node]) -> c_ast.Node | None:
        """`while (n--)` and `for (k = n; k-- > 0;)` as loops over the numbers that their bodies see."""
        cond, body = getattr(s, "cond", None), getattr(s, "stmt", None)
        if not isinstance(s, c_ast.While | c_ast.For) or getattr(s, "next", None) is not None:
            return None
        if isinstance(cond, c_ast.BinaryOp) and cond.op in (">", "!=") and _is_zero(cond.right):
            cond = cond.left
        if not (isinstance(cond, c_ast.UnaryOp) and cond.op == "p--" and isinstance(cond.expr, c_ast.ID)):
            return None
        name = cond.expr
        start: c_ast.Node = name
        if isinstance(s, c_ast.For) and s.init is not None:
            init = s.init.decls[0] if isinstance(s.init, c_ast.DeclList) else s.init
            start = init.init if isinstance(init, c_ast.Decl) else init.rvalue
        del before
        one = c_ast.Constant("int", "1")
        init = c_ast.Assignment("=", name, c_ast.BinaryOp("-", start, one), s.coord)
        down = c_ast.Assignment("-=", name, one, s.coord)
        holds = c_ast.BinaryOp(">=", name, c_ast.Constant("int", "0"))
        return c_ast.For(init, holds, down, body, s.coord)

    def placed(self, at: int, s: c_ast.Node) -> None:
        """A statement at a place of its sequence, which the barriers around it are ordered by."""
        if isinstance(s, c_ast.Decl | c_ast.DeclList):  # in the scope around it
            with_place = (*(self.phase if self.in_phase else self.order), Position(at))
            before = self.phase, self.order, self.in_phase
            if self.in_phase:
                self.phase, self.in_phase = with_place, False
            else:
                self.order = with_place
            for d in s.decls if isinstance(s, c_ast.DeclList) else (s,):
                self.declaration(d)
            self.phase, self.order, self.in_phase = before
            return
        if not self.in_phase:
            with self.within(order=(*self.order, Position(at))):
                self.statement(s)
            return
        barriers = has_barrier(s)
        with self.within(phase=(*self.phase, Position(at)), in_phase=barriers):
            self.statement(s)

    def statement(self, s: c_ast.Node) -> None:
        match s:
            case c_ast.Compound():
                self.block(s.block_items)
            case c_ast.Decl():
                self.declaration(s)
            case c_ast.DeclList():
                for d in s.decls:
                    self.declaration(d)
            case c_ast.For():
                self.loop(s)
            case c_ast.If():
                self.branch(s)
            case c_ast.Assignment():
                self.assignment(s.lvalue, s.op, s.rvalue, s)
            case c_ast.UnaryOp() if s.op in ("p++", "++", "p--", "--"):
                self.assignment(s.expr, s.op.strip("p")[0] + "=", c_ast.Constant("int", "1"), s)
            case c_ast.EmptyStatement() | c_ast.Pragma() | None:
                pass
            case c_ast.Cast() if isinstance(s.expr, c_ast.ID):
                pass  # (void)x
            case c_ast.FuncCall():
                self.called(s)
            case c_ast.Return() if s.expr is None:
                raise Unmodelled("a return before the end", line_of(s))
            case _:
                raise Unmodelled(_NAMES.get(type(s).__name__, type(s).__name__), line_of(s))

    def called(self, s: c_ast.FuncCall) -> None:
        name = s.name.name if isinstance(s.name, c_ast.ID) else ""
        if name == "barrier":
            self.barrier(s)
        else:
            raise Unmodelled(f"a call of {name}", line_of(s))

    def barrier(self, s: c_ast.FuncCall) -> None:
        if self.flags or not self.in_kernel:
            raise Unmodelled("a barrier under a condition on data", line_of(s))
        inner = [d for d in range(self.dims) if d in self.items]
        spread = isl.Set.universe(self.domain.get_space())
        for d in inner:  # all items of the group are there, or none
            reached = self.domain.project_out(isl.dim_type.set, d, 1).insert_dims(
                isl.dim_type.set, d, 1
            )
            spread = reached if d == inner[0] else spread.intersect(reached)
        everyone = self.everyone()
        if inner and not everyone.intersect(self._projected(self.domain)).is_subset(self.domain):
            raise Unmodelled("a barrier that some items of a group may not reach", line_of(s))
        self.program.barriers.append(
            Barrier(
                self.domain, self.launch, self.phase, self.groups, line_of(s), _fences(s)
            )
        )

    def _projected(self, domain: isl.Set) -> isl.Set:
        """The groups and iterations of a domain, with any item."""
        for d in self.items:
            domain = domain.project_out(isl.dim_type.set, d, 1).insert_dims(isl.dim_type.set, d, 1)
        return domain

    def everyone(self) -> isl.Set:
        """All items of a group, whatever else."""
        return self.all_items.add_dims(
            isl.dim_type.set, self.dims - self.all_items.dim(isl.dim_type.set)
        )

    all_items: isl.Set = None

    # ---------------------------------------------------------------- declarations

    def declaration(self, d: c_ast.Decl) -> None:
        if isinstance(d.type, c_ast.FuncDecl | c_ast.Struct | c_ast.Enum | c_ast.Union):
            return
        type, dims = self.declared(d.type)
        line = line_of(d)
        local = "auto" in d.storage
        if not dims and d.init is not None and not local and type.whole and self.constant(d):
            value, of = self.expr(d.init)
            if isinstance(value, Polynomial):
                kept, _ = self.cast((value, of), type, d)
                if isinstance(kept, Polynomial):
                    self.bind(d.name, kept)
                    return
        extents = []
        for e in dims:
            value, _ = self.expr(e) if e is not None else (None, None)
            n = isinstance(value, Polynomial) and value.affine is not None and constant_of(value.affine)
            if n is None or n is False:
                raise Unmodelled(f"the size of {d.name}", line)
            extents.append(n)
        cell = self.new_cell(d.name, type, extents, "local" if local else "private", line)
        if d.init is not None and not isinstance(d.init, c_ast.InitList):
            value = self.cast(self.expr(d.init), type, d)
            self.bind(d.name, cell)
            self.store(cell, (), value, d)
            return
        self.bind(d.name, cell)
        if d.init is not None:
            self.filled(cell, d.init, d)
        elif not local and any(p.iterator is not None for p in (*self.phase, *self.order)):
            self.undefined(cell, d)

    def constant(self, d: c_ast.Decl) -> bool:
        """Whether nothing stores to a variable behind its declaration."""
        return "const" in d.quals or d.name not in self.stored

    stored: frozenset[str] = frozenset()

    def filled(self, cell: Cell, init: c_ast.InitList, node: c_ast.Node) -> None:
        """`= {0}`, `= {1, 2, 3}`."""
        if len(cell.extents) == 1 and all(not isinstance(e, c_ast.InitList) for e in init.exprs):
            if len(init.exprs) > 1:
                for at, e in enumerate(init.exprs):
                    with self.within(order=(*self.order, Position(at))):
                        value = self.cast(self.expr(e), cell.array.type, node)
                        self.store(cell, (self.number(at),), value, node)
                if len(init.exprs) == cell.extents[0]:
                    return
                raise Unmodelled("an array of which only the first elements are given", line_of(node))
        flat: c_ast.Node = init
        while isinstance(flat, c_ast.InitList) and len(flat.exprs) == 1:
            flat = flat.exprs[0]
        if not isinstance(flat, c_ast.Constant) or float(flat.value.rstrip("fFuUlL")) != 0:
            raise Unmodelled(f"how {cell.array.name} begins", line_of(node))
        zero = self.cast((self.number(0), INT), cell.array.type, node)
        self.everywhere(cell, zero, node)

    def undefined(self, cell: Cell, node: c_ast.Node) -> None:
        """What an earlier iteration left in a variable does not count."""
        self.everywhere(cell, (ex.Undefined(cell.array.type), cell.array.type), node)
        self.known.pop(cell.array.name, None)

    def everywhere(self, cell: Cell, value: Value, node: c_ast.Node) -> None:
        """Stores a value in each element."""
        with self.within(order=self.order):
            places = []
            for e in cell.extents:
                at = self.new_dimension("")
                self.order = (*self.order, Position(iterator=self.dims - 1))
                self.domain = self.domain.intersect(self.between(at, 0, e))
                places.append(at)
            v, t = value
            lifted = v.lifted(self.dims) if isinstance(v, Polynomial) else v
            self.store(cell, tuple(p.lifted(self.dims) for p in places), (lifted, t), node)

    def between(self, value: Polynomial, low: int, high: int) -> isl.Set:
        v = value.affine
        assert v is not None
        low_, high_ = self.number(low).affine, self.number(high).affine
        return v.ge_set(low_).intersect(v.lt_set(high_))

    def declared(self, t: c_ast.Node) -> tuple[CType, list[c_ast.Node | None]]:
        dims: list[c_ast.Node | None] = []
        while isinstance(t, c_ast.ArrayDecl):
            dims.append(t.dim)
            t = t.type
        if isinstance(t, c_ast.PtrDecl):
            raise Unmodelled("a pointer variable", line_of(t))
        if isinstance(t, c_ast.TypeDecl) and isinstance(t.type, c_ast.IdentifierType):
            type = named(t.type.names)
            if type is not None:
                return type, dims
            raise Unmodelled(f"the type {' '.join(t.type.names)}", line_of(t))
        raise Unmodelled("a variable of a struct", line_of(t))

    # ---------------------------------------------------------------- loops and conditions

    def loop(self, s: c_ast.For) -> None:
        line = line_of(s)
        name, start = self.first(s)
        first, _ = self.expr(start)
        self.forget(s)
        after = None
        with self.within():
            step = self.step(s, name)
            if not isinstance(first, Polynomial):
                raise Unmodelled("a loop whose start data decide", line)
            lo = self.affine_of(first, s)
            trip = self.new_dimension(name).affine
            low = lo.add_dims(isl.dim_type.in_, 1)
            zero = self.number(0).affine
            assert trip is not None
            if abs(step) == 1:
                self.bind(name, Polynomial({ONE: trip}))
                along = trip.sub(low) if step > 0 else low.sub(trip)
            else:  # counted in steps: no remainders, which isl is slow with
                self.bind(name, Polynomial({ONE: low.add(trip.scale_val(isl.Val(step)))}))
                along = trip
            self.domain = self.domain.intersect(along.ge_set(zero))
            self.checking = False
            holds = self.condition(s.cond) if s.cond is not None else []
            self.checking = True
            if any(not isinstance(w, bool) for _, w in holds):
                raise Unmodelled("a loop that ends where data say so", line)
            inside = isl.Set.empty(self.domain.get_space())
            for where, w in holds:
                if w:
                    inside = inside.union(where)
            self.monotone(inside, -1 if step == -1 else 1, s)
            self.domain = inside.coalesce()
            with self.within():  # what is computed where the loop ends stays in its type, too
                counted, of = self.variable(c_ast.ID(name))
                self.fits(added(counted, self.number(step)), of, s)
            position = Position(iterator=self.dims - 1, backwards=step == -1)
            if self.in_phase:
                self.phase = (*self.phase, position)
                self.uniform(s)
            else:
                self.order = (*self.order, position)
            if name in stored_in(s.stmt):
                raise Unmodelled(f"a loop that changes its counter {name}", line)
            after = self.left_at(s, name, lo, step)
            self.in_block(s.stmt)
        self.forget(s)
        counter = next((c[name] for c in reversed(self.scopes) if name in c), None)
        if isinstance(counter, Cell):
            self.known.pop(counter.array.name, None)
            if after is not None:
                self.known[counter.array.name] = after
            elif name in self.read_after:
                raise Unmodelled(f"{name} behind its loop", line)

    read_after: frozenset[str] = frozenset()

    def left_at(self, s: c_ast.For, name: str, lo: isl.PwAff, step: int) -> Polynomial | None:
        """What the counter of `for (...; i < end; i += step)` holds behind the loop."""
        c = s.cond
        if step < 1 or not (isinstance(c, c_ast.BinaryOp) and c.op in ("<", "<=")):
            return None
        left, more = c.left, 0
        if isinstance(left, c_ast.BinaryOp) and left.op == "+" and isinstance(left.right, c_ast.Constant):
            left, more = left.left, int(left.right.value)
        if not (isinstance(left, c_ast.ID) and left.name == name):
            return None
        dims = lo.dim(isl.dim_type.in_)
        domain = self.domain.project_out(isl.dim_type.set, dims, self.dims - dims)
        with self.within(domain=domain):
            end, _ = self.expr(c.right)
            if not isinstance(end, Polynomial) or end.affine is None:
                return None
            last = added(end, self.number(more - (c.op == "<=")), -1)
            count = added(last, Polynomial({ONE: lo}), -1)
            trips = self.arithmetic("/", added(count, self.number(step - 1)), self.number(step), INT, s)
            if trips is None or trips.affine is None:
                return None
            some = trips.affine.max(self.number(0).affine)
            return Polynomial({ONE: lo.add(some.scale_val(isl.Val(step)))})

    def in_block(self, s: c_ast.Node | None) -> None:
        if isinstance(s, c_ast.Compound):
            self.block(s.block_items)
        elif s is not None:
            self.placed(0, s)

    def uniform(self, s: c_ast.Node) -> None:
        """All items of a group go through the loop, or the condition, alike."""
        wide = self._projected(self.domain).intersect(self.everyone())
        if not wide.is_subset(self.domain):
            raise Unmodelled("a barrier that some items of a group may not reach", line_of(s))

    def monotone(
        self, inside: isl.Set, step: int, s: c_ast.For
    ) -> None:
        """The iterations are those where the condition holds only if it holds up to its end."""
        d = self.dims - 1
        gone = self.domain.subtract(inside)
        if gone.is_empty():
            return
        space = self.domain.get_space()
        same = isl.Map.universe(isl.Space.map_from_set(space))
        for k in range(d):
            same = same.equate(isl.dim_type.in_, k, isl.dim_type.out, k)
        order = isl.Map.universe(isl.Space.map_from_set(space))
        order = (
            order.order_lt(isl.dim_type.in_, d, isl.dim_type.out, d)
            if step > 0
            else order.order_gt(isl.dim_type.in_, d, isl.dim_type.out, d)
        )
        after = gone.apply(same.intersect(order))
        if not after.intersect(inside).is_empty():
            raise Unmodelled("a loop whose condition fails and holds again", line_of(s))

    def first(self, s: c_ast.For) -> tuple[str, c_ast.Node]:
        init = s.init
        if init is None:
            counter = s.next.expr if isinstance(s.next, c_ast.UnaryOp) else getattr(s.next, "lvalue", None)
            if isinstance(counter, c_ast.ID):
                return counter.name, counter
        if isinstance(init, c_ast.DeclList) and len(init.decls) == 1 and init.decls[0].init is not None:
            d = init.decls[0]
            if not self.declared(d.type)[0].whole:
                raise Unmodelled("a loop whose counter is no whole number", line_of(s))
            return d.name, d.init
        if (
            isinstance(init, c_ast.Assignment)
            and init.op == "="
            and isinstance(init.lvalue, c_ast.ID)
        ):
            return init.lvalue.name, init.rvalue
        raise Unmodelled("a loop whose start is not one number", line_of(s))

    def step(self, s: c_ast.For, name: str) -> int:
        n = s.next
        if isinstance(n, c_ast.UnaryOp) and isinstance(n.expr, c_ast.ID) and n.expr.name == name:
            if n.op in ("++", "p++"):
                return 1
            if n.op in ("--", "p--"):
                return -1
        if isinstance(n, c_ast.Assignment) and isinstance(n.lvalue, c_ast.ID) and n.lvalue.name == name:
            by = n.rvalue
            if n.op == "=" and isinstance(by, c_ast.BinaryOp) and by.op in "+-":
                if isinstance(by.left, c_ast.ID) and by.left.name == name:
                    n = c_ast.Assignment(f"{by.op}=", n.lvalue, by.right)
            if n.op in ("+=", "-="):
                value, _ = self.expr(n.rvalue)
                c = isinstance(value, Polynomial) and value.affine is not None
                c = constant_of(value.affine) if c else None  # type: ignore[union-attr]
                if c:
                    return c if n.op == "+=" else -c
        raise Unmodelled("a loop whose step is not a number", line_of(s))

    def branch(self, s: c_ast.If) -> None:
        pieces = self.condition(s.cond)
        barriers = self.in_phase
        before, ways = dict(self.known), []
        for where, holds in pieces:
            self.known = dict(before)
            if isinstance(holds, bool):
                body = s.iftrue if holds else s.iffalse
                if body is not None:
                    with self.within(domain=where):
                        if barriers and has_barrier(body):
                            self.uniform(s)
                        self.in_block(body)
                ways.append((where, self.known))
                continue
            if barriers:
                raise Unmodelled("a barrier under a condition on data", line_of(s))
            with self.within(domain=where):
                flag = self.new_cell("condition", INT, (), "private", line_of(s))
                with self.within(order=(*self.order, Position(0))):
                    self.store(flag, (), (holds, INT), s, always=True)
                for at, (body, negated) in enumerate(((s.iftrue, False), (s.iffalse, True)), 1):
                    if body is None:
                        continue
                    with self.within(order=(*self.order, Position(at))):
                        self.flags = (*self.flags, (flag, negated))
                        self.in_block(body)
                        self.flags = self.flags[:-1]
                        self.forget(body)
            ways.append((where, self.known))
        self.known = self.met(ways)

    flags: tuple[tuple[Cell, bool], ...] = ()

    def condition(self, e: c_ast.Node) -> Pieces:
        """Where a condition holds, where not, and where data decide: a partition of the domain."""
        match e:
            case c_ast.UnaryOp() if e.op == "!":
                return [
                    (w, not h if isinstance(h, bool) else ex.operation("!", (h,), INT))
                    for w, h in self.condition(e.expr)
                ]
            case c_ast.BinaryOp() if e.op in ("&&", "||"):
                return self.joined(e)
        value = self.expr(e)
        return self.truth(value, e)

    def joined(self, e: c_ast.BinaryOp) -> Pieces:
        out: Pieces = []
        stops = e.op == "||"
        for where, holds in self.condition(e.left):
            if holds is stops:
                out.append((where, holds))
                continue
            with self.within(domain=where):
                right = self.condition(e.right)
            for part, second in right:
                if isinstance(holds, bool):
                    out.append((part, second))
                elif second is (not stops):
                    out.append((part, holds))
                else:
                    b: Expr = self.whole(int(second)) if isinstance(second, bool) else second
                    out.append((part, ex.operation(e.op, (holds, b), INT)))
        return _gathered(out)

    def whole(self, value: int) -> Whole:
        return Whole(self.number(value), INT)

    def truth(self, value: Value, node: c_ast.Node) -> Pieces:
        v, _ = value
        if isinstance(v, Polynomial):
            a = v.affine
            if a is None:
                return [(self.domain, ex.operation("!=", (Whole(v, INT), self.whole(0)), INT))]
            zero = self.number(0).affine
            return _gathered(
                [
                    (self.domain.intersect(a.ne_set(zero)), True),
                    (self.domain.intersect(a.eq_set(zero)), False),
                ]
            )
        if isinstance(v, ex.Cases):
            out: Pieces = []
            for where, x in v.pieces:
                with self.within(domain=self.domain.intersect(where)):
                    out += self.truth((x.value, x.type) if isinstance(x, Whole) else (x, v.type), node)
            return _gathered(out)
        if isinstance(v, Whole):
            return self.truth((v.value, v.type), node)
        return [(self.domain, ex.truth(v, self.whole(0)))]

    # ---------------------------------------------------------------- assignments

    def assignment(self, target: c_ast.Node, op: str, value: c_ast.Node, node: c_ast.Node) -> None:
        if isinstance(value, c_ast.Assignment):
            raise Unmodelled("an assignment in an expression", line_of(node))
        cell, places, type = self.place(target)
        right = self.expr(value)
        if op != "=":
            old: Value = (self.element(cell, places, node), type)
            right = self.binary(op[:-1], old, right, node)
        self.store(cell, places, self.cast(right, type, node), node)

    def store(
        self,
        cell: Cell,
        places: Sequence[Polynomial],
        value: Value,
        node: c_ast.Node,
        always: bool = False,
    ) -> None:
        e = self.expression(value)
        if not always:
            for flag, negated in self.flags[cell.depth :][::-1]:
                old, said = self.element(cell, places, node), self.element(flag, (), node)
                first, second = (old, e) if negated else (e, old)
                e = ex.operation("?:", (said, first, second), cell.array.type)
        if not always:
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

    def cells(self, cell: Cell, places: Sequence[Polynomial], node: c_ast.Node) -> isl.Map:
        """From instances of a statement to the cell of an array, with these subscripts."""
        array = cell.array
        if array.kind in ("global", "scratch"):
            indices = self.subscripts(array, places, node)
        else:
            own = {"private": (*self.groups, *self.items), "local": self.groups}[array.kind]
            if len(places) != len(cell.extents):
                raise Unmodelled(f"a part of {array.name}", line_of(node))
            indices = [self.dimension(d).affine for d in own]
            indices += [self.affine_of(p, node) for p in places]
        m = isl.Map.from_domain(isl.Set.universe(self.domain.get_space()))
        for x in indices:
            m = m.flat_range_product(isl.Map.from_pw_aff(x))
        return m.set_tuple_name(isl.dim_type.out, array.name)

    def subscripts(
        self, array: Array, places: Sequence[Polynomial], node: c_ast.Node
    ) -> Sequence[isl.PwAff]:
        inner = array.extents[1:]
        (offset,) = places
        if self.recording and not inner and array.extents[0] is None:
            some = next(iter(offset.terms.values()))
            return (some.sub(some),)
        if any(e is None for e in inner):
            raise Unmodelled(f"the shape of {array.name}", line_of(node))
        return split(offset, inner, line_of(node))  # type: ignore[arg-type]

    def place(self, e: c_ast.Node) -> tuple[Cell, Sequence[Polynomial], CType]:
        """What an expression that can be stored to stands for. Arrays of the caller have one place,
        their offset."""
        cell, places = self.reached(e)
        if any(not isinstance(p, Polynomial) for p in places):
            raise Unmodelled("a store at a place that data decide", line_of(e))
        return cell, places, cell.array.type  # type: ignore[return-value]

    def reached(self, e: c_ast.Node) -> tuple[Cell, list[Polynomial | Expr]]:
        member = ""
        inner: list[c_ast.Node] = []
        base = e
        while not isinstance(base, c_ast.ID):
            match base:
                case c_ast.ArrayRef():
                    inner.insert(0, base.subscript)
                    base = base.name
                case c_ast.StructRef():
                    if inner and base.type == ".":
                        raise Unmodelled("an array in a struct", line_of(e))
                    member = f".{base.field.name}{member}"
                    if base.type == "->":
                        inner.insert(0, c_ast.Constant("int", "0"))
                    base = base.name
                case c_ast.UnaryOp() if base.op == "*":
                    inner.insert(0, c_ast.Constant("int", "0"))
                    base = base.expr
                case _:
                    raise Unmodelled("a pointer that is computed", line_of(e))
        name = base.name + member
        bound = self.find(base.name if not member else name, base)
        if not isinstance(bound, Cell):
            raise Unmodelled(f"a store to {name}, which follows from others", line_of(e))
        places: list[Polynomial | Expr] = [self.expr(x)[0] for x in inner]
        if bound.array.kind in ("global", "scratch") and places:
            return bound, [self.offset(bound, places, e)]
        return bound, places

    def offset(self, cell: Cell, places: list[Polynomial | Expr], e: c_ast.Node) -> Polynomial | Expr:
        """Of an element of an array of the caller, in elements."""
        if len(places) == 1:
            at = places[0]
            if isinstance(at, Polynomial):
                self.strides.setdefault(cell.array.name, []).extend(at.strides)
            return at
        if len(places) != len(cell.extents):
            raise Unmodelled(f"a row of {cell.array.name}", line_of(e))
        out: Value = (places[0], LONG)
        for size, at in zip(cell.extents[1:], places[1:]):
            assert size is not None
            out = self.binary("*", out, (size.lifted(self.dims), LONG), e)
            out = self.binary("+", out, (at, LONG), e)
        return out[0]

    # ---------------------------------------------------------------- expressions

    def element(self, cell: Cell, places: Sequence[Polynomial | Expr], node: c_ast.Node) -> Expr:
        array = cell.array
        if any(not isinstance(p, Polynomial) for p in places):
            if array.kind != "global":
                raise Unmodelled("a variable array at a place that data decide", line_of(node))
            (at,) = places
            return Gather(array.name, at, array.type, line_of(node))  # type: ignore[arg-type]
        cells = self.cells(cell, places, node)  # type: ignore[arg-type]
        return Read(array.name, cells.intersect_domain(self.domain), array.type, line_of(node))

    def expression(self, value: Value) -> Expr:
        v, t = value
        return ex.whole(v, t) if isinstance(v, Polynomial) else v

    def affine_of(self, v: Polynomial | Expr, node: c_ast.Node) -> isl.PwAff:
        a = v.affine if isinstance(v, Polynomial) else None
        if a is None:
            raise Unmodelled("a number that is no affine one", line_of(node))
        return a

    def expr(self, e: c_ast.Node) -> Value:
        match e:
            case c_ast.Constant():
                return self.literal(e)
            case c_ast.ID():
                return self.variable(e)
            case c_ast.ArrayRef() | c_ast.StructRef():
                cell, places = self.reached(e)
                return self.element(cell, places, e), cell.array.type
            case c_ast.UnaryOp():
                return self.unary(e)
            case c_ast.BinaryOp() if e.op in ("&&", "||"):
                return self.logical(self.condition(e))
            case c_ast.BinaryOp():
                return self.binary(e.op, self.expr(e.left), self.expr(e.right), e)
            case c_ast.TernaryOp():
                return self.select(e)
            case c_ast.Cast():
                type, dims = self.declared(e.to_type.type)
                if dims:
                    raise Unmodelled("a cast to an array", line_of(e))
                return self.cast(self.expr(e.expr), type, e)
            case c_ast.FuncCall():
                return self.function(e)
            case c_ast.Assignment():
                raise Unmodelled("an assignment in an expression", line_of(e))
            case _:
                raise Unmodelled(_NAMES.get(type(e).__name__, type(e).__name__), line_of(e))

    def literal(self, e: c_ast.Constant) -> Value:
        text = e.value.rstrip("uUlL")
        if e.type == "char":
            return self.number(ex.character(e.value)), INT
        if e.type in ("float", "double", "long double"):
            type = named(["float" if e.value[-1] in "fF" else "double"])
            assert type is not None
            return ex.number(ex.floating(e.value), type), type
        value = int(text, 0) if not (text.startswith("0") and text.isdigit()) else int(text, 8)
        suffix = e.value[len(text) :].lower()
        words = ["unsigned"] * ("u" in suffix) + ["long"] * ("l" in suffix or value >= 1 << 31)
        type = named([*words, "int"])
        assert type is not None
        return self.number(value), type

    def variable(self, e: c_ast.ID) -> Value:
        if e.name in ex.INFINITE:
            return ex.infinity(e.name)
        if e.name in ("true", "false"):
            return self.number(int(e.name == "true")), INT
        bound = self.find(e.name, e)
        if isinstance(bound, Polynomial):
            return bound, self.types.get(e.name, INT)
        if isinstance(bound, Cell):
            if bound.extents or bound.array.kind in ("global", "scratch"):
                raise Unmodelled(f"the array {e.name} as a pointer", line_of(e))
            held = self.known.get(bound.array.name)
            if held is not None:
                return held.lifted(self.dims), bound.array.type
            return self.element(bound, (), e), bound.array.type
        if isinstance(bound, Whole):
            return bound.value.lifted(self.dims), bound.type
        return bound, bound.type

    types: dict[str, CType] = field(default_factory=dict)

    def unary(self, e: c_ast.UnaryOp) -> Value:
        match e.op:
            case "!":
                return self.logical(self.condition(e))
            case "*":
                cell, places = self.reached(e)
                return self.element(cell, places, e), cell.array.type
            case "-" | "+" | "~":
                v, t = self.expr(e.expr)
                t = promoted(t)
                if e.op == "+":
                    return v, t
                if isinstance(v, Polynomial) and e.op == "-" and t.signed:
                    return added(self.number(0), v, -1), t
                return ex.negated(self.expression((v, t)), e.op, t), t
            case "sizeof":
                raise Unmodelled("sizeof", line_of(e))
        raise Unmodelled(f"the operator {e.op.strip('p')} in an expression", line_of(e))

    def logical(self, pieces: Pieces) -> Value:
        cases = tuple((w, self.whole(int(h)) if isinstance(h, bool) else h) for w, h in pieces)
        if len(cases) == 1:
            ((_, only),) = cases
            return (only.value, INT) if isinstance(only, Whole) else (only, INT)
        return ex.Cases(cases, INT), INT

    def select(self, e: c_ast.TernaryOp) -> Value:
        pieces = self.condition(e.cond)
        values: list[tuple[isl.Set, bool | Expr, Value | None, Value | None]] = []
        for where, holds in pieces:
            with self.within(domain=where):
                a = self.expr(e.iftrue) if holds is not False else None
                b = self.expr(e.iffalse) if holds is not True else None
            values.append((where, holds, a, b))
        type = self.type_of_select(e, values)
        whole = [x[0] for _, h, a, b in values for x in (a, b) if x is not None]
        if all(isinstance(h, bool) for _, h, _, _ in values) and all(
            isinstance(w, Polynomial) and w.affine is not None for w in whole
        ):
            out = None
            for where, holds, a, b in values:
                (v, _) = (a if holds else b) or (None, None)
                part = v.affine.intersect_domain(where)  # type: ignore[union-attr]
                out = part if out is None else out.union_add(part)
            return Polynomial({ONE: out}), type
        cases = []
        for where, holds, a, b in values:
            with self.within(domain=where):
                first = self.expression(self.cast(a, type, e)) if a else None
                second = self.expression(self.cast(b, type, e)) if b else None
            if isinstance(holds, bool):
                cases.append((where, first if holds else second))
            else:
                assert first is not None and second is not None
                cases.append((where, ex.operation("?:", (holds, first, second), type)))
        if len(cases) == 1:
            return cases[0][1], type  # type: ignore[return-value]
        return ex.Cases(tuple(cases), type), type  # type: ignore[arg-type]

    def type_of_select(self, e: c_ast.TernaryOp, values: Any) -> CType:
        known = [x[1] for _, _, a, b in values for x in (a, b) if x is not None]
        firsts = next((a[1] for _, _, a, _ in values if a), None)
        seconds = next((b[1] for _, _, _, b in values if b), None)
        if firsts is None or seconds is None:
            with self.within():
                other = self.expr(e.iftrue if firsts is None else e.iffalse)[1]
            known.append(other)
        out = known[0]
        for t in known[1:]:
            out = common(out, t)
        return common(out, out)

    def binary(self, op: str, a: Value, b: Value, node: c_ast.Node) -> Value:
        (x, s), (y, t) = a, b
        if isinstance(x, Digits) and op in ("/", "%") and isinstance(y, Polynomial):
            return self.digit(op, x, y, node), s
        shift = op in ("<<", ">>")
        type = promoted(s) if shift else common(s, t)
        if isinstance(x, Polynomial) and isinstance(y, Polynomial):
            known = self.arithmetic(op, x, y, type, node)
            if known is not None:
                if op in ("+", "-", "*", "<<"):
                    self.fits(known, type, node)
                return known, (INT if op in ex.COMPARED else type)
        left = self.expression(self.cast(a, type, node))
        right = self.expression(self.cast(b, promoted(t) if shift else type, node))
        if op in ex.COMPARED:
            return ex.operation(op, (left, right), INT), INT
        return ex.operation(op, (left, right), type), type

    checking: bool = True
    ranges: isl.Set = None
    """What the types of the parameters hold."""

    def fits(self, value: Polynomial, type: CType, node: c_ast.Node) -> None:
        """Raises Unmodelled where 32 bits may be too few. C leaves it open what signed numbers do
        then: sizes for which the user's own leave their type have no meaning."""
        if type.bits > 32 or not self.checking:
            return
        a = value.affine
        users = type.signed and not self.in_kernel
        if a is None and users:
            return
        if a is None:
            raise Unmodelled("a number that 32 bits may not hold", line_of(node))
        number = constant_of(a)
        low = -(1 << 31) if type.signed else 0
        high = low + (1 << 32) - 1
        if number is not None:
            outside = not low <= number <= high
        else:
            over = a.gt_set(self.number(high).affine).union(a.lt_set(self.number(low).affine))
            within = self.domain.intersect_params(self.program.quotients)
            if self.ranges is not None:
                within = within.intersect_params(self.ranges)
            over = within.intersect(over)
            outside = not over.is_empty()
            if outside and not self.in_kernel:
                kind = "meaningless" if users else "wrapping"
                setattr(self.program, kind, getattr(self.program, kind).union(over.params()))
                return
        if outside:
            raise Unmodelled("a number that 32 bits may not hold", line_of(node))

    def digit(self, op: str, x: Digits, y: Polynomial, node: c_ast.Node) -> Any:
        """Of a number divided by the size of its last digit."""
        *rest, (last, size) = x.digits
        if op == "%" and rest and not x.divisors and self.alike(size, y):
            return last
        if op == "/":
            digits, divisors = list(x.digits), [*x.divisors, y]
            while divisors and len(digits) > 1:
                at = next((d for d in divisors if self.alike(digits[-1][1], d)), None)
                if at is None:
                    break
                divisors.remove(at)
                digits.pop()
            if not divisors and len(digits) == 1:
                return digits[0][0]
            if len(digits) > 1:
                return Digits(tuple(digits), tuple(divisors))
        raise Unmodelled("the number of a group, divided by another number", line_of(node))

    def alike(self, a: Polynomial, b: Polynomial) -> bool:
        """Whether two numbers are equal in every instance."""
        difference = added(a, b, -1)
        if set(difference.terms) - {ONE}:
            return False
        v = difference.affine
        zero = self.number(0).affine
        return v is None or bool(self.domain.is_subset(v.eq_set(zero)))

    def arithmetic(
        self, op: str, x: Polynomial, y: Polynomial, type: CType, node: c_ast.Node
    ) -> Polynomial | None:
        """Of whole numbers that are known, where it gives one."""
        if op in "+-":
            z = added(x, y, 1 if op == "+" else -1)
            return z if type.signed or op == "+" or self.non_negative(z) else None
        if op == "*":
            try:
                return multiplied(x, y, line_of(node))
            except Unmodelled:
                return None
        a, b = x.affine, y.affine
        if op in ("/", "%") and (b is None or constant_of(b) is None or a is None):
            return self.parted(op, x, y)
        if a is None or b is None:
            return None
        if op in ex.COMPARED:
            return self.compared(op, a, b)
        n = constant_of(b)
        if n is None:
            return None
        if op == "<<" and 0 <= n < 31:
            return Polynomial({ONE: a.scale_val(isl.Val(1 << n))})
        if op == ">>" and 0 <= n < 31 and self.non_negative(x):
            return Polynomial({ONE: a.scale_down_val(isl.Val(1 << n)).floor()})
        if op == "&" and n >= 0 and (n & (n + 1)) == 0 and self.non_negative(x):
            return Polynomial({ONE: a.mod_val(isl.Val(n + 1))})
        if op in ("/", "%") and n > 0:
            by = self.number(n).affine
            positive = self.non_negative(x)
            if n > 1 and (named := self.quotient_of(x, n)) is not None:
                q = named.affine
                assert q is not None
                if not positive:  # C rounds towards zero
                    over = q.intersect_domain(a.ge_set(self.number(0).affine))
                    under = a.tdiv_q(by).intersect_domain(a.lt_set(self.number(0).affine))
                    q = over.union_add(under)
            else:
                q = a.scale_down_val(isl.Val(n)).floor() if positive else a.tdiv_q(by)
                q = q.coalesce()
            return Polynomial({ONE: q if op == "/" else a.sub(q.scale_val(isl.Val(n)))})
        return None

    def parted(self, op: str, x: Polynomial, y: Polynomial) -> Polynomial | None:
        """(z*h + y) / h is z where 0 <= y < h."""
        by = plain(y)
        if by is None:
            return None
        try:
            q, r = split(x, (by,))
        except Unmodelled:
            return None
        size = y.affine
        if size is None:
            return None
        inside = r.ge_set(self.number(0).affine).intersect(r.lt_set(size))
        if not self.domain.is_subset(inside):
            return None
        return Polynomial({ONE: q if op == "/" else r})

    def non_negative(self, x: Polynomial) -> bool:
        """Whether it is, in every instance; false where nobody knows."""
        if not x.terms:
            return True
        a = x.affine
        if a is None:
            return False
        return bool(self.domain.intersect(a.lt_set(self.number(0).affine)).is_empty())

    def compared(self, op: str, a: isl.PwAff, b: isl.PwAff) -> Polynomial:
        holds = getattr(a, ex.COMPARED[op])(b)
        one, zero = self.number(1).affine, self.number(0).affine
        assert one is not None and zero is not None
        inside = one.intersect_domain(holds)
        return Polynomial({ONE: inside.union_add(zero.intersect_domain(holds.complement()))})

    def cast(self, value: Value, type: CType, node: c_ast.Node) -> Value:
        v, of = value
        if type.kind == "struct" or of.kind == "struct":
            raise Unmodelled("a struct as a whole", line_of(node))
        if isinstance(v, Digits):
            return v, type
        if isinstance(v, Polynomial):
            if type == BOOL:
                return self.logical(self.truth(value, node))[0], BOOL
            if type.whole:
                if type.holds(of) or self.in_range(v, type):
                    return v, type
                return ex.operation("cast", (ex.whole(v, of),), type), type
            n = v.affine is not None and constant_of(v.affine)
            if n is not None and n is not False:
                return ex.number(float(n), type), type
            return ex.operation("cast", (ex.whole(v, of),), type), type
        if isinstance(v, ex.Cases):
            return ex.Cases(
                tuple((w, self.expression(self.cast((x, of), type, node))) for w, x in v.pieces), type
            ), type
        return ex.converted(v, of, type, self.whole(0)), type

    def in_range(self, v: Polynomial, type: CType) -> bool:
        """Whether a number fits a type. Signed ones of int and more do: C leaves the rest open."""
        if type.bits >= 32:
            return type.signed or self.non_negative(v)
        a = v.affine
        if a is None:
            return False
        low = -(1 << (type.bits - 1)) if type.signed else 0
        high = low + (1 << type.bits) - 1
        outside = a.lt_set(self.number(low).affine).union(a.gt_set(self.number(high).affine))
        return bool(self.domain.intersect(outside).is_empty())

    def function(self, e: c_ast.FuncCall) -> Value:
        name = e.name.name if isinstance(e.name, c_ast.ID) else ""
        arguments = list(e.args.exprs) if e.args is not None else []
        if self.call is not None:
            special = self.call(self, name, arguments, e)
            if special is not None:
                return special
        if name in ex.INFINITE:
            return ex.infinity(name)
        if name in self.functions:
            return self.inlined(self.functions[name], arguments, e)
        values = [self.expr(a) for a in arguments]
        whole = [v for v, _ in values if isinstance(v, Polynomial) and v.affine is not None]
        if name in ("min", "max", "abs") and len(whole) == len(values) > 0:
            a = whole[0].affine
            assert a is not None
            type = values[0][1] if len(values) == 1 else common(values[0][1], values[1][1])
            if name == "abs":
                return Polynomial({ONE: a.max(a.neg())}), INT
            b = whole[1].affine
            if self.domain.is_subset(a.ge_set(b)):
                return whole[0 if name == "max" else 1], type
            if self.domain.is_subset(a.le_set(b)):
                return whole[1 if name == "max" else 0], type
            return Polynomial({ONE: a.min(b) if name == "min" else a.max(b)}), type
        found = ex.library(name, [t for _, t in values], self.in_kernel)
        if found is None:
            raise Unmodelled(f"a call of {name}", line_of(e))
        plain_name, type, takes = found
        operands = tuple(self.expression(self.cast(v, takes, e)) for v in values)
        return ex.operation(plain_name, operands, type), type

    def inlined(self, f: c_ast.FuncDef, arguments: list[c_ast.Node], e: c_ast.Node) -> Value:
        """A function of numbers: declarations, then what it returns."""
        params = f.decl.type.args.params if f.decl.type.args is not None else []
        if len(params) != len(arguments) or self.depth > 20:
            raise Unmodelled(f"a call of {f.decl.name}", line_of(e))
        scope: dict[str, Binding] = {}
        for p, a in zip(params, arguments):
            if isinstance(p.type, c_ast.PtrDecl | c_ast.ArrayDecl):
                if not isinstance(a, c_ast.ID):
                    raise Unmodelled(f"a call of {f.decl.name}", line_of(e))
                scope[p.name] = self.find(a.name, a)
            else:
                type, _ = self.declared(p.type)
                scope[p.name] = self.expression(self.cast(self.expr(a), type, e))
        returns, _ = self.declared(f.decl.type.type)
        self.depth += 1
        before, self.scopes = self.scopes, [self.scopes[0], scope]
        try:
            value = self.returned(list(f.body.block_items or ()), f)
        finally:
            self.scopes = before
            self.depth -= 1
        return self.cast(value, returns, e)

    depth: int = 0

    def returned(self, items: list[c_ast.Node], f: c_ast.FuncDef) -> Value:
        """What a body returns; variables are followed."""
        for at, s in enumerate(items):
            match s:
                case c_ast.Return() if s.expr is not None:
                    return self.expr(s.expr)
                case c_ast.Decl() if s.init is not None:
                    type, dims = self.declared(s.type)
                    if dims:
                        break
                    self.bind(s.name, self.expression(self.cast(self.expr(s.init), type, s)))
                    self.local_types[s.name] = type
                case c_ast.Assignment() if isinstance(s.lvalue, c_ast.ID):
                    type = self.local_types.get(s.lvalue.name)
                    if type is None:
                        break
                    right = self.expr(s.rvalue)
                    if s.op != "=":
                        right = self.binary(s.op[:-1], self.expr(s.lvalue), right, s)
                    self.bind(s.lvalue.name, self.expression(self.cast(right, type, s)))
                case c_ast.If() if isinstance(_sole(s.iftrue), c_ast.Return):
                    rest = [s.iffalse] if s.iffalse is not None else items[at + 1 :]
                    other = c_ast.Compound(rest)
                    return self.either(s.cond, s.iftrue, other, f)
                case c_ast.Compound():
                    return self.returned([*(s.block_items or ()), *items[at + 1 :]], f)
                case _:
                    break
        raise Unmodelled(f"a call of {f.decl.name}", line_of(f))

    local_types: dict[str, CType] = field(default_factory=dict)

    def either(
        self, cond: c_ast.Node, a: c_ast.Node, b: c_ast.Node, f: c_ast.FuncDef
    ) -> Value:
        cases: list[tuple[isl.Set, Expr]] = []
        types: list[CType] = []
        for where, holds in self.condition(cond):
            with self.within(domain=where):
                values = [
                    self.returned([x], f) if holds is not bad else None
                    for x, bad in ((a, False), (b, True))
                ]
            types += [v[1] for v in values if v]
            exprs = [self.expression(v) if v else None for v in values]
            if isinstance(holds, bool):
                chosen = exprs[0] if holds else exprs[1]
                assert chosen is not None
                cases.append((where, chosen))
            else:
                assert exprs[0] is not None and exprs[1] is not None
                cases.append((where, ex.operation("?:", (holds, exprs[0], exprs[1]), types[-1])))
        type = types[0]
        if len(cases) == 1:
            return cases[0][1], type
        return ex.Cases(tuple(cases), type), type


def _gathered(pieces: Pieces) -> Pieces:
    """Without empty parts, those of one answer joined."""
    parts: dict[bool, isl.Set] = {}
    out: Pieces = []
    for where, holds in pieces:
        if where.is_empty():
            continue
        if isinstance(holds, bool):
            parts[holds] = parts[holds].union(where) if holds in parts else where
        else:
            out.append((where, holds))
    return [*((w.coalesce(), h) for h, w in parts.items()), *out]


def _sole(s: c_ast.Node | None) -> c_ast.Node | None:
    if isinstance(s, c_ast.Compound):
        items = s.block_items or []
        return _sole(items[0]) if len(items) == 1 else None
    return s


def _before_continue(s: c_ast.Node | None) -> list[c_ast.Node] | None:
    """What stands in front of the `continue` that a branch ends with; None where it has none."""
    items = list(s.block_items or ()) if isinstance(s, c_ast.Compound) else [s]
    if items and isinstance(items[-1], c_ast.Continue):
        return items[:-1]
    return None


def _fences(s: c_ast.FuncCall) -> frozenset[str]:
    found: set[str] = set()

    def walk(e: c_ast.Node) -> None:
        if isinstance(e, c_ast.ID):
            found.update(w for w in ("local", "global") if e.name == f"CLK_{w.upper()}_MEM_FENCE")
        elif not (isinstance(e, c_ast.BinaryOp) and e.op == "|"):
            raise Unmodelled("the fences of a barrier", line_of(s))
        for _, c in e.children():
            walk(c)

    for a in s.args.exprs if s.args is not None else ():
        walk(a)
    return frozenset(found)


def _is_zero(e: c_ast.Node) -> bool:
    return isinstance(e, c_ast.Constant) and e.value == "0"


def line_of(node: c_ast.Node | None) -> int:
    coord = getattr(node, "coord", None)
    return int(coord.line) if coord is not None else 0


def has_barrier(s: c_ast.Node | None) -> bool:
    if s is None:
        return False
    if isinstance(s, c_ast.FuncCall) and isinstance(s.name, c_ast.ID) and s.name.name == "barrier":
        return True
    return any(has_barrier(c) for _, c in s.children())


def stored_in(s: c_ast.Node | None) -> frozenset[str]:
    """The names of the variables that a statement stores to."""
    found: set[str] = set()

    def walk(x: c_ast.Node) -> None:
        target = None
        if isinstance(x, c_ast.Assignment):
            target = x.lvalue
        elif isinstance(x, c_ast.UnaryOp) and x.op in ("++", "--", "p++", "p--", "&"):
            target = x.expr
        if isinstance(target, c_ast.ID):
            found.add(target.name)
        for _, c in x.children():
            walk(c)

    if s is not None:
        walk(s)
    return frozenset(found)


_NAMES = {
    "While": "a loop that ends where data say so",
    "DoWhile": "a loop that ends where data say so",
    "Break": "a break",
    "Continue": "a continue",
    "Switch": "a switch",
    "Goto": "a goto",
    "Label": "a label",
    "Return": "a return before the end",
    "ExprList": "a comma",
    "CompoundLiteral": "a compound literal",
    "InitList": "a list of initial values",
}

__all__ = ["Cell", "Reader", "Number", "Scalar", "replace", "line_of", "has_barrier", "stored_in"]
