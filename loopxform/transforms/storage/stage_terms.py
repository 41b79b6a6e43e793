"""Staged terms of rows that follow one another:

    for ii: forall i of ii: { s = 0; for (k = row[i]; k < row[i + 1]; k++) s += e(k); y[i] = s; }
 -> for ii: { first = row[ii]; last = max(row[ii + T], first); s_own[T];
      forall i: s_own[i - ii] = 0;
      for (c = 0; c < last - first; c += SIZE) {
        s_terms[SIZE];
        forall q: s_terms[q] = e(first + c + q);
        forall i: for (k of row i and of this part) s_own[i - ii] += s_terms[k - first - c]; }
      forall i: y[i] = s_own[i - ii]; }

The terms of all rows of a tile are computed side by side, SIZE at a time, and each row sums up its
own in the order of the program, however long it is. The rows may have any lengths: on the way from
row[ii] up to row[ii + T] each k between them is passed by a row that begins at or before it and
ends after it, so that the program computes e(k), too, and whatever that reads exists. What rows
have outside of that part (where `row` does not ascend) they sum up before and after it, as they
did.

Legal where the row that follows begins where a row ends, a term depends on nothing but k and arrays
that the tile does not write, and the rows of a tile are a number. (CSR-stream: Greathouse and Daga,
"Efficient sparse matrix-vector multiplication on GPUs using the CSR storage format", SC 2014.)
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from loopxform.analysis.context import always
from loopxform.errors import Obstacle
from loopxform.ir.affine import poly, simplify, to_expr, value_of
from loopxform.ir.names import used_names
from loopxform.ir.nodes import (
    Assign,
    Bin,
    Cast,
    Const,
    Decl,
    Expr,
    For,
    Function,
    Load,
    Opaque,
    Return,
    Stmt,
    Var,
)
from loopxform.ir.types import INT, LONG, UINT, ULONG, Scalar, promote
from loopxform.ir.typing import symbols, type_of
from loopxform.ir.visit import (
    LoopSite,
    at,
    declared,
    loads,
    map_expr,
    map_exprs,
    names,
    replace_at,
    substitute,
    walk,
    writes,
)
from loopxform.records import record
from loopxform.transforms.base import Step
from loopxform.transforms.edges.bounds import fixed_trips, iteration_number
from loopxform.transforms.sites import (
    fixed_header,
    new_name,
    one_loop,
    parse_size,
    trusted,
    unmapped,
    whole_loop,
)

_ROWS = "LX208"
_TERMS = "LX209"


@record
class StageTerms(Step):
    """Computes the terms that `loop` sums up for all iterations of the loop around it, `size` at a
    time, into an array named `copy` (default: s_terms)."""

    loop: str
    size: str
    copy: str = ""

    verb: ClassVar[str] = "stage-terms"
    usage: ClassVar[str] = "stage-terms LOOP SIZE [NAME]"
    keeps_order: ClassVar[bool] = True

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        site = one_loop(fn, self.loop)
        if isinstance(site, Obstacle):
            return (site,)
        size = parse_size(fn, self.size)
        if isinstance(size, Obstacle):
            return (replace(size, loc=site.loop.origin.loc),)
        structure = (
            *whole_loop(site),
            *fixed_header(site),
            *unmapped(site, self.verb),
            *new_name(fn, self.copy, site),
        )
        if structure:
            return structure
        found = _rows(fn, site)
        if isinstance(found, _Rows):
            return ()
        return (found if found.loc else replace(found, loc=site.loop.origin.loc),)

    def rewrite(self, fn: Function) -> Function:
        found, size = _rows(fn, trusted(one_loop(fn, self.loop))), parse_size(fn, self.size)
        assert isinstance(found, _Rows)
        assert not isinstance(size, Obstacle)
        return found.staged(size, self.copy, str(self))

    def reason(self, fn: Function) -> str:
        found = _rows(fn, trusted(one_loop(fn, self.loop)))
        assert isinstance(found, _Rows)
        k, i = found.terms.var, found.rows.var
        return f"rows of {k} follow one another, and no term depends on {i}"


# ---------------------------------------------------------------- what is legal


@record
class _Rows:
    """A tile of rows: where the loop over them is, that loop, the one over the terms of a row with
    its only statement, and what stands before and after it."""

    fn: Function
    site: LoopSite
    terms: For
    update: Assign
    before: tuple[Stmt, ...]
    after: tuple[Stmt, ...]

    @property
    def rows(self) -> For:
        return self.site.loop

    def staged(self, size: Expr, name: str, step: str) -> Function:
        return replace_at(self.fn, self.site.path, _Staging(self, size, name, step).body())


def _rows(fn: Function, site: LoopSite) -> _Rows | Obstacle:
    """The rows whose terms a loop sums up, or why these cannot be staged."""
    *path, place = site.path
    rows = at(fn, tuple(path)) if path else None
    if not isinstance(rows, For) or place < 0:
        text = f"no loop holds the loop over '{site.loop.var}' directly"
        return Obstacle(_ROWS, text, remedy="name the loop over the terms of a row")
    around = LoopSite(tuple(path), rows)
    problem = _tile(fn, around) or _follow(fn, rows, site.loop)
    if problem is not None:
        return Obstacle(_ROWS, problem[0], rows.origin.loc, remedy=problem[1])
    before, after = rows.body[:place], rows.body[place + 1 :]
    problem = _sum(fn, rows, site.loop) or _beside(before, rows)
    if problem is not None:
        return Obstacle(_TERMS, *problem[:1], remedy=problem[1])
    update = site.loop.body[0]
    assert isinstance(update, Assign)
    return _Rows(fn, around, site.loop, update, before, after)


def _tile(fn: Function, around: LoopSite) -> tuple[str, str] | None:
    """Why a loop is not over a tile of rows."""
    rows, tiling = around.loop, f"stripmine {around.loop.var} first"
    if not rows.parallel or rows.level is not None:
        what = "is mapped already" if rows.parallel else "is not parallel"
        return f"the loop over '{rows.var}' {what}", f"parallelise {rows.var}, and map it later"
    if value_of(rows.step) != 1 or rows.live_out or rows.type not in (INT, LONG, UINT, ULONG):
        return f"the loop over '{rows.var}' does not count rows", f"normalise {rows.var} first"
    if fixed_trips(rows) is None:
        return f"the rows that '{rows.var}' counts are not a number", tiling
    if not always(fn, around.path, Bin("<", rows.lo, rows.hi)):
        return f"the loop over '{rows.var}' may have no iterations", tiling
    return None


def _follow(fn: Function, rows: For, terms: For) -> tuple[str, str] | None:
    """Why a row does not end where the next one begins."""
    types, kept = symbols(fn), "leave the terms where they are"
    if value_of(terms.step) != 1 or terms.parallel or terms.type not in (INT, UINT, LONG, ULONG):
        return f"the loop over '{terms.var}' does not count terms one by one", kept
    if not all(_holds(terms.type, type_of(e, types)) for e in (terms.lo, terms.hi)):
        return f"the bounds of '{terms.var}' have another type", kept
    following = substitute(terms.lo, {rows.var: Bin("+", Var(rows.var), Const(1))})
    if poly(_simple(following)) != poly(_simple(terms.hi)):
        return f"the next row of '{rows.var}' does not begin where a row ends", kept
    arrays = {x.array for e in (terms.lo, terms.hi) for x in loads(e)}
    changing = (arrays | names(terms.lo)) & (writes(rows.body) | declared(rows.body).keys())
    if changing:
        return f"the tile writes '{min(changing)}', which says where rows begin", kept
    return None


def _holds(kind: Scalar, other: Scalar) -> bool:
    """Whether a type has all values of another, which is that of an index."""
    other = promote(other)
    if not (other.is_integer and kind.is_integer):
        return False
    wider = other.bytes < kind.bytes and (other.is_unsigned or not kind.is_unsigned)
    return other == kind or wider


def _simple(e: Expr) -> Expr:
    """With subscripts in their normal form."""
    return map_expr(
        e, lambda x: replace(x, index=tuple(map(simplify, x.index))) if isinstance(x, Load) else x
    )


def _sum(fn: Function, rows: For, terms: For) -> tuple[str, str] | None:
    """Why the terms of a row are not a sum of values that do not depend on the row."""
    kept = "leave the terms where they are"
    if any(isinstance(s, Opaque | Return) for _, s in walk(rows.body)):
        return "a row holds what is not modelled", "write it as loops and assignments"
    (update, *others) = terms.body or (None,)
    if others or not isinstance(update, Assign) or not update.op or update.atomic:
        return f"the loop over '{terms.var}' holds more than one sum", kept
    if not isinstance(update.target, Var) or update.target.name not in declared(rows.body):
        return f"what the loop over '{terms.var}' sums up in belongs to no row", "privatise it"
    read, written = names(update.value), writes(rows.body)
    changing = read & (written | declared(rows.body).keys() | {rows.var})
    if changing:
        return f"a term depends on '{min(changing)}', which differs between rows", kept
    if terms.var not in read:
        return f"a term does not depend on '{terms.var}'", kept
    kind = type_of(update.value, symbols(fn))
    if kind.bytes not in (4, 8):
        return f"terms have the type {kind}", kept
    return None


def _beside(before: tuple[Stmt, ...], rows: For) -> tuple[str, str] | None:
    """Why what stands before the terms of a row cannot stay before those of all of them."""
    own = declared(rows.body)
    for s in before:
        sets = isinstance(s, Assign) and isinstance(s.target, Var)
        if not sets and not (isinstance(s, Decl) and not s.shape):
            return "a row does more than set scalars before its terms", "distribute the rows first"
    for _, s in walk(rows.body):
        if isinstance(s, Assign) and isinstance(s.target, Var) and s.target.name not in own:
            return f"rows share '{s.target.name}'", f"privatise {s.target.name} {rows.var} first"
    return None


# ---------------------------------------------------------------- the tree


class _Staging:
    """The statements that take the place of the loop over rows."""

    def __init__(self, found: _Rows, size: Expr, name: str, step: str) -> None:
        self.rows, self.terms, self.size, self.found = found.rows, found.terms, size, found
        self.origin = found.rows.origin.then(step)
        self._taken = set(used_names(found.fn))
        self.types = symbols(found.fn)
        k = found.terms.var
        assert isinstance(found.update.target, Var)
        self.array = name or self._free(f"{found.update.target.name}_terms")
        self.first, self.last, self.count = (
            self._free(f"{k}_{part}") for part in ("first", "last", "count")
        )
        self.chunk, self.begin, self.end = (
            self._free(f"{k}_{part}") for part in ("c", "begin", "end")
        )
        self.number = self._free(f"{k}_q")
        own = (s.name for s in found.before if isinstance(s, Decl))
        self.own = {n: self._free(f"{n}_own") for n in own}

    def _free(self, name: str) -> str:
        while name in self._taken:
            name += "_"
        self._taken.add(name)
        return name

    def body(self) -> tuple[Stmt, ...]:
        kind, first, last = self.terms.type, Var(self.first), Var(self.last)
        after = substitute(self.terms.lo, {self.rows.var: self.rows.hi})
        widened = Bin("-", Cast(LONG, last), Cast(LONG, first))
        whole = Cast(LONG, Bin("-", last, first)) if kind.bytes == 8 else widened
        return (
            *self._set(self.first, kind, substitute(self.terms.lo, {self.rows.var: self.rows.lo})),
            *self._set(self.last, kind, Bin("max", _cast(kind, after, self.types), first)),
            *self._set(self.count, LONG, whole),
            *(self._decl(n, own) for n, own in self.own.items()),
            self._of_rows(
                (
                    *(s for s in self.found.before if not isinstance(s, Decl)),
                    replace(self.terms, hi=Bin("min", self._bound(self.terms.hi), first)),
                )
            ),
            self._chunks(),
            self._of_rows(
                (
                    replace(self.terms, lo=Bin("max", self._bound(self.terms.lo), last)),
                    *self.found.after,
                )
            ),
        )

    def _chunks(self) -> For:
        """The part of each row that lies in what all rows have between them, SIZE terms at a
        time."""
        kind, begin = self.terms.type, Var(self.begin)
        left = Bin("-", Var(self.count), Var(self.chunk))
        body = (
            Decl(
                self.array,
                type_of(self.found.update.value, self.types),
                (self.size,),
                origin=self.origin,
            ),
            *self._set(self.begin, kind, Cast(kind, Bin("+", Var(self.first), Var(self.chunk)))),
            *self._set(
                self.end, kind, Cast(kind, Bin("+", begin, Bin("min", Cast(LONG, self.size), left)))
            ),
            self._filled(Bin("min", self.size, left)),
            self._of_rows((self._summed(),)),
        )
        return For(
            self.chunk, Const(0), Var(self.count), self.size, body, type=LONG, origin=self.origin
        )

    def _filled(self, count: Expr) -> For:
        """The terms, side by side."""
        place = Bin("+", Var(self.begin), Var(self.number))
        value = substitute(self.found.update.value, {self.terms.var: place})
        target = Load(self.array, (Var(self.number),))
        store = Assign(target, value, label=f"stage_{self.array}", origin=self.origin)
        return For(
            self.number, Const(0), count, Const(1), (store,), parallel=True, origin=self.origin
        )

    def _summed(self) -> For:
        """The terms of a row, in order."""
        term = Load(self.array, (Bin("-", Var(self.terms.var), Var(self.begin)),))
        update = replace(self.found.update, value=term)
        lo = Bin("max", self._bound(self.terms.lo), Var(self.begin))
        hi = Bin("min", self._bound(self.terms.hi), Var(self.end))
        return replace(self.terms, lo=lo, hi=hi, body=(update,), asks=None)

    def _of_rows(self, body: tuple[Stmt, ...]) -> For:
        """A loop over the rows, each with what it has set so far."""
        own = {n: Load(x, (iteration_number(self.rows),)) for n, x in self.own.items()}
        inside = map_exprs(body, lambda e: own.get(e.name, e) if isinstance(e, Var) else e)
        cleared = tuple(replace(s, asks=None) if isinstance(s, For) else s for s in inside)
        return replace(self.rows, body=cleared, asks=None, origin=self.origin)

    def _bound(self, e: Expr) -> Expr:
        return _cast(self.terms.type, e, self.types)

    def _decl(self, name: str, own: str) -> Decl:
        fixed = fixed_trips(self.rows)
        assert fixed is not None
        return Decl(own, self.types[name], (to_expr(fixed[0]),), origin=self.origin)

    def _set(self, name: str, kind: Scalar, value: Expr) -> tuple[Stmt, ...]:
        return (
            Decl(name, kind, origin=self.origin),
            Assign(
                Var(name),
                _cast(kind, value, {**self.types, **self._kinds()}),
                label=f"set_{name}",
                origin=self.origin,
            ),
        )

    def _kinds(self) -> dict[str, Scalar]:
        kind = self.terms.type
        return {
            **dict.fromkeys((self.first, self.last, self.begin, self.end), kind),
            self.count: LONG,
            self.chunk: LONG,
        }


def _cast(kind: Scalar, e: Expr, types: dict[str, Scalar]) -> Expr:
    """A value in a type that has it."""
    return e if type_of(e, types) == kind else Cast(kind, e)
