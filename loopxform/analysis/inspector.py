"""Ends of arrays that no formula gives, found by a run through the subscripts (an inspector).

    for (i = 0; i < n; i++)                  for (i = 0; i < n; i++)
      for (k = row[i]; k < row[i+1]; k++)      for (k = row[i]; k < row[i+1]; k++)
        y[i] += a[k] * x[col[k]];              { ends a at k + 1, x at col[k] + 1 }

The host runs it in front of the kernels: loops, conditions and subscripts of the user's program,
nothing else, so that it reads what the program reads, under the conditions it reads it under, those
that were assumed of the call among them. What
these depend on must be what it was in front of the loops: nothing that the program writes. It runs
before the host asks whether arrays overlap, so there is none where a store through another pointer
may change where, or whether, it reads on. Where subscripts are linear in a loop variable, its first
and its last iteration say all.

(Saltz, Mirchandaney, Crowley, Run-time parallelization and scheduling of loops, 1991.)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import replace

from loopxform.analysis.accesses import Guards, touched
from loopxform.analysis.assumptions import may_share
from loopxform.analysis.extent import NoExtent, explain
from loopxform.analysis.noted_ends import ENDS, asked, at_ends, noted, prologue
from loopxform.ir.names import fresh
from loopxform.ir.nodes import (
    Assign,
    Bin,
    Cast,
    Const,
    Decl,
    Expr,
    For,
    Function,
    If,
    Load,
    Opaque,
    Param,
    Return,
    Select,
    Stmt,
    Un,
    Var,
    While,
)
from loopxform.ir.types import INT, LLONG, may_alias
from loopxform.ir.typing import symbols, type_of
from loopxform.ir.visit import (
    Path,
    at,
    bodies,
    loads,
    loops,
    loops_around,
    names,
    stmt_exprs,
    walk,
    walk_expr,
    writes,
)
from loopxform.ir.whiles import condition
from loopxform.records import record


@record
class Inspected:
    """The program, whose arrays have ends that the host finds out, and the function that does it;
    `ends` are the parameters that hold them, in the order of its results. Where there is none,
    `shared` are an array that says where others are read, and one that is stored to and may be it,
    if that is all that stands in the way."""

    fn: Function
    inspector: Function | None = None
    ends: tuple[str, ...] = ()
    shared: tuple[Param, Param] | None = None


class _Unknown(Exception):
    """The subscripts depend on what the program computes, or on an array that another one may
    be (`shared`)."""

    def __init__(self, shared: tuple[Param, Param] | None = None) -> None:
        self.shared = shared


def inspected(fn: Function, read: Function) -> Inspected:
    """The program with ends for arrays that have none, as far as an inspector can find them;
    `read` is the program with loops on data as loops of the tree."""
    arrays = [p for p in fn.objects if _is_open(p) and isinstance(explain(read, p.name), NoExtent)]
    return _inspected(fn, arrays) if arrays else Inspected(fn)


def _inspected(fn: Function, arrays: list[Param]) -> Inspected:
    """The same of these arrays."""
    ends = dict[str, str]()
    for p in arrays:
        named = replace(fn, params=(*fn.params, *(Param(e, INT) for e in ends.values())))
        ends[p.name] = fresh(named, f"lx_end_{p.name}")
    try:
        body = _Inspector(fn, {p.name: n for n, p in enumerate(arrays, 1)}).body()
    except _Unknown as e:
        return Inspected(fn, shared=e.shared)
    results = Param(ENDS, LLONG, (None,), flat=True, array=True)
    inspector = replace(
        fn,
        params=(*fn.params, results),
        body=body,
        assumes=(),
        representable=(),
        as_written=None,
        signature=_signature(fn),
    )

    def closed(p: Param) -> Param:
        if p.name not in ends or _is_in_rows(p):
            return p
        return replace(p, shape=(Var(ends[p.name]), *p.shape[1:]), flat=False)

    numbers = (Param(e, INT, ends=a) for a, e in ends.items())
    always = _touched_always(fn)
    some = (Bin(">=", Var(e), Const(1)) for a, e in ends.items() if a in always)
    made = replace(
        fn,
        params=(*map(closed, fn.params), *numbers),
        globals=tuple(map(closed, fn.globals)),
        assumes=(*fn.assumes, *some),
    )
    return Inspected(made, inspector, tuple(ends.values()))


def _touched_always(fn: Function) -> set[str]:
    """The arrays that each iteration of one of the innermost loops touches: where they have no
    element, that loop never runs, and what is left is little. Of loops in branches one may run
    where another one does not."""
    sites = loops(fn)
    depth = [len(loops_around(fn, s.path)) for s in sites]
    deepest = [s for s, n in zip(sites, depth) if n == max(depth)]
    inner = [s.loop for s in deepest if not _is_in_branch(fn, s.path)]
    assigned = (s for x in inner for s in x.body if isinstance(s, Assign))
    every = (x for s in assigned for e in stmt_exprs(s) for x in touched(e))
    return {x.array for x, guards in every if isinstance(x, Load) and not guards}


def _is_in_branch(fn: Function, path: Path) -> bool:
    return any(isinstance(at(fn, path[:n]), If) for n in range(1, len(path)))


def _is_open(p: Param) -> bool:
    """Whether an array may have an end that only its subscripts tell."""
    whole = p.array and not (p.values or p.rows or p.tests or p.kept)
    return whole and p.shape[0] is None and all(d is not None for d in p.shape[1:])


def _is_in_rows(p: Param) -> bool:
    """Whether it is a matrix whose last row may not be whole: its end is that of its elements."""
    return p.flat and len(p.shape) > 1


def _signature(fn: Function) -> str:
    """The prototype of the user's function, with the results behind its parameters."""
    head, _, _ = fn.signature.rpartition(")")
    before = head.removesuffix("(void")
    return f"{before}({_RESULTS})" if before != head else f"{head}, {_RESULTS})"


_RESULTS = f"long long *{ENDS}"


class _Inspector:
    """The statements that find the ends of `arrays`, each with the place of its result."""

    def __init__(self, fn: Function, arrays: dict[str, int]) -> None:
        self.fn, self.arrays = fn, arrays
        self.written = writes(fn.body)
        self.objects = {p.name: p for p in fn.objects}
        self.needed = frozenset[str]()
        self.types = symbols(fn)
        self.touched = frozenset[Load]()

    def body(self) -> tuple[Stmt, ...]:
        """Raises _Unknown."""
        while True:
            body = self._all(self.fn.body)
            for cond in reversed(self.fn.assumes) if body else ():
                body = (If(cond, body),)  # which no one has asked yet
            needed = frozenset(n for _, s in walk(body) for e in asked(s) for n in names(e))
            if needed <= self.needed:
                break
            self.needed |= needed
        self._require_steady(body)
        return prologue(self.arrays) + body

    def _require_steady(self, body: tuple[Stmt, ...]) -> None:
        """Raises _Unknown where what is read may have been written, or cannot be named."""
        local = {s.name for _, s in walk(self.fn.body) if isinstance(s, Decl) and s.shape}
        if self._read_late() | (_read(body) & local):
            raise _Unknown
        for name in {n for _, s in walk(body) for e in asked(s) for n in names(e)} & set(
            self.objects
        ):
            p = self.objects[name]
            if p.kept or p.rows or (name in self.written and (p.is_global or p.is_member)):
                raise _Unknown
        told = _told(body) & self.objects.keys()
        if told & self.written:
            raise _Unknown  # the program computes what it is told itself
        stores = [self.objects[n] for n in self.written & self.objects.keys()]
        for name in sorted(told):
            for p in stores:
                if self._may_be_one(self.objects[name], p):
                    raise _Unknown((self.objects[name], p))

    def _read_late(self) -> set[str]:
        """The arrays that are read in a statement of the function that writes them, or behind
        one."""
        out, written = set[str](), frozenset[str]()
        for s in self.fn.body:
            written |= writes((s,))
            out |= _read(tuple(self._one(s))) & written
        return out

    def _may_be_one(self, told: Param, stored: Param) -> bool:
        """Whether what is stored may change what is read as it was, in memory of one type."""
        typed = self.fn.strict_aliasing
        one_type = not typed or told.united or may_alias(told.type, stored.type)
        is_free = not (told.restrict or stored.restrict)
        return is_free and one_type and may_share(told, stored, typed=typed)

    def _all(self, body: Sequence[Stmt]) -> tuple[Stmt, ...]:
        """What is noted of statements; what each touches is not noted again behind it."""
        before, out = self.touched, list[Stmt]()
        for s in body:
            self.touched = _unchanged(self.touched, s)
            out += self._one(s)
            self.touched = _unchanged(self.touched | _always(s), s)
        self.touched = before
        return tuple(out)

    def _one(self, s: Stmt) -> Iterator[Stmt]:
        match s:
            case Assign(target, value):
                index = target.index if isinstance(target, Load) else ()
                stored = {target} if isinstance(target, Load) else set[Load]()
                for e in (value, *index):
                    yield from self._reads(e, stored)
                if isinstance(target, Load):
                    yield from self._update(target, ())
                elif target.name in self.needed:
                    yield s
            case If(cond, then, orelse):
                yield from self._reads(cond)
                before, self.touched = self.touched, self.touched | _always(s)
                inside = self._all(then), self._all(orelse)
                self.touched = before
                if any(inside):
                    yield replace(s, then=inside[0], orelse=inside[1])
            case For():
                yield from self._loop(s)
            case Decl(name, _, shape):
                if not shape and name in self.needed:
                    yield s
            case Return():
                return
            case _:
                self._require_beside(s)

    def _require_beside(self, s: Stmt) -> None:
        """Raises _Unknown for a statement that counts, and cannot be repeated."""
        inside = {n for _, x in walk((s,)) for e in stmt_exprs(x) for n in names(e)}
        if not isinstance(s, While) or (writes((s,)) | inside) & (self.needed | set(self.arrays)):
            raise _Unknown
        if any(isinstance(x, Opaque) and not isinstance(x, While) for _, x in walk((s,))):
            raise _Unknown

    def _loop(self, s: For) -> Iterator[Stmt]:
        inner = self._all(s.body)
        for e in (s.lo, s.hi, s.step):
            yield from self._reads(e)
        if s.live_out and s.var in self.needed:
            raise _Unknown
        if not inner:
            return
        if condition(s) is not None:
            raise _Unknown
        short = self._wraps_nowhere(inner) and at_ends(s, inner)
        yield from short or (replace(s, body=inner, live_out=False),)

    def _wraps_nowhere(self, body: tuple[Stmt, ...]) -> bool:
        """Whether no number of a body is unsigned, so that linear ones grow or fall."""
        parts = (x for _, s in walk(body) for e in asked(s) for x in walk_expr(e))
        numbers = (x for x in parts if not isinstance(x, Load) or x.array != ENDS)
        return not any(type_of(x, self.types).is_unsigned for x in numbers)

    def _reads(self, e: Expr, stored: Set[Load] = frozenset()) -> Iterator[Stmt]:
        """What is noted of an expression; the statement touches `stored` whatever that says."""
        always = stored | _always_read(e)
        for x, guards in touched(e):
            if isinstance(x, Load) and not (guards and x in always):
                yield from self._update(x, guards)

    def _update(self, x: Load, guards: Guards) -> Iterator[Stmt]:
        n = self.arrays.get(x.array)
        if n is None or x in self.touched:
            return
        out: tuple[Stmt, ...] = noted(n, self._element(x), len(self.arrays))
        for cond, holds in reversed(guards):
            out = (If(cond if holds else Un("!", cond), out),)
        yield from out

    def _element(self, x: Load) -> Expr:
        """How many elements are in front of one; of an array that is declared in rows, how many
        rows."""
        p, out = self.objects[x.array], x.index[0]
        for size, i in zip(p.shape[1:], x.index[1:]) if p.flat else ():
            assert size is not None
            out = Bin("+", Bin("*", Cast(LLONG, out), size), i)
        return out


def _always_read(e: Expr) -> frozenset[Load]:
    """The elements that an expression reads whatever the data are."""
    return frozenset(x for x, guards in touched(e) if isinstance(x, Load) and not guards)


def _always(s: Stmt) -> frozenset[Load]:
    """The elements that a statement touches whatever the data are, before anything inside it."""
    match s:
        case Assign(Load() as target, value):
            return frozenset([target]).union(*map(_always_read, (value, *target.index)))
        case Assign(Var(), value):
            return _always_read(value)
        case If(cond):
            return _always_read(cond)
        case _:
            return frozenset()


def _unchanged(elements: frozenset[Load], s: Stmt) -> frozenset[Load]:
    """Those whose subscripts mean the same in front of a statement, inside and behind it."""
    declared = {x.name for _, x in walk((s,)) if isinstance(x, Decl)}
    set_there = writes((s,)) | {x.var for _, x in walk((s,)) if isinstance(x, For)} | declared
    return frozenset(x for x in elements if not any(names(i) & set_there for i in x.index))


def _read(body: tuple[Stmt, ...]) -> set[str]:
    """The arrays of the program that statements of the inspector read."""
    return {x.array for _, s in walk(body) for e in asked(s) for x in loads(e)} - {ENDS}


def _told(body: Sequence[Stmt]) -> set[str]:
    """The names that say where the inspector reads, and whether it does."""
    found = {n for e in _telling(body) for n in names(e)}
    sets = [s for _, s in walk(tuple(body)) if isinstance(s, Assign)]
    values = [(s.target.name, s.value) for s in sets if isinstance(s.target, Var)]
    while True:
        used = {n for name, value in values if name in found for n in names(value)}
        if used <= found:
            return found
        found |= used


def _telling(body: Sequence[Stmt]) -> Iterator[Expr]:
    """What says where a statement of the inspector reads, and whether it does, but for the values
    that scalars are set to. An element that a condition has read is there for those inside."""
    for s in body:
        inside = [x for part in bodies(s) for x in part]
        read = _certain(s.cond) if isinstance(s, If) else []
        later = (x for _, y in walk(tuple(inside)) for e in asked(y) for x in loads(e))
        leads_on = any(x not in read for x in later)
        for e in asked(s):
            yield from [e] if leads_on else _telling_in(e)
        yield from _telling(inside)


def _certain(cond: Expr) -> list[Load]:
    """The elements whose subscripts are numbers that a comparison reads."""
    match cond:
        case Bin("&&" | "||", left, _):
            return _certain(left)
        case Bin(_, left, right):
            return [*_certain(left), *_certain(right)]
        case Load(_, index) if all(isinstance(i, Const) for i in index):
            return [cond]
        case _:
            return []


def _telling_in(e: Expr) -> Iterator[Expr]:
    """What says where an expression reads, and whether it does."""
    for x in walk_expr(e):
        match x:
            case Load(_, index):
                yield from index
            case Bin("&&" | "||", left, right) if any(loads(right)):
                yield left
            case Select(cond, then, orelse) if any(loads(then)) or any(loads(orelse)):
                yield cond
