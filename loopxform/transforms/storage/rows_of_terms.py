"""Rows of terms that follow one another, which the step `stage-terms` looks for:

forall i of a tile: { s = 0; for (k = row[i]; k < row[i + 1]; k++) s += e(k); y[i] = s; }
"""

from __future__ import annotations

from dataclasses import replace

from loopxform.analysis.context import always
from loopxform.analysis.reductions import Reduction, operands, reductions
from loopxform.errors import Obstacle
from loopxform.ir.affine import poly, simplify, value_of
from loopxform.ir.nodes import (
    Assign,
    Bin,
    Const,
    Copy,
    Decl,
    Expr,
    For,
    Function,
    If,
    Load,
    Opaque,
    Return,
    Stmt,
    Var,
)
from loopxform.ir.printer import expr_text
from loopxform.ir.types import INT, LONG, UINT, ULONG, Scalar, promote
from loopxform.ir.typing import symbols, type_of
from loopxform.ir.visit import (
    LoopSite,
    at,
    declared,
    map_expr,
    names,
    reads,
    substitute,
    walk,
    writes,
)
from loopxform.ir.whiles import condition
from loopxform.records import record
from loopxform.transforms.edges.bounds import fixed_trips
from loopxform.transforms.reductions.partial import PLACES

ROWS = "LX208"
TERMS = "LX209"
COUNTED = (INT, UINT, LONG, ULONG)
KEPT = "leave the terms where they are"
WHOLE = "let rows end where the next one begins, and use test ? term : 0 for what does not count"

Problem = tuple[str, str] | None
"""Why something is not as it has to be, and what to do about it."""


@record
class Rows:
    """A tile of rows: where the loop over them is, the one over the terms of a row, what stands
    before and after that; the reduction, the statement in which it is updated by a term, that term,
    and the statements before it that compute scalars for it."""

    fn: Function
    site: LoopSite
    terms: For
    before: tuple[Stmt, ...]
    after: tuple[Stmt, ...]
    reduction: Reduction
    update: Assign | If
    term: Expr
    computed: tuple[Stmt, ...]

    @property
    def rows(self) -> For:
        return self.site.loop

    @property
    def type(self) -> Scalar:
        """That of a term."""
        return type_of(self.term, symbols(self.fn))


def rows_of(fn: Function, site: LoopSite) -> Rows | Obstacle:
    """The rows whose terms a loop reduces, or why these cannot be staged."""
    *path, place = site.path
    rows, terms = at(fn, tuple(path)) if path else None, site.loop
    if not isinstance(rows, For) or place < 0:
        text = f"no loop holds the loop over '{terms.var}' directly"
        return Obstacle(ROWS, text, remedy="name the loop over the terms of a row")
    around = LoopSite(tuple(path), rows)
    problem = _tile(fn, around) or unlike_rows(fn, rows, terms)
    if problem is not None:
        return Obstacle(ROWS, problem[0], rows.origin.loc, remedy=problem[1])
    before, after = rows.body[:place], rows.body[place + 1 :]
    problem = _modelled(rows) or _beside(before, rows)
    if problem is not None:
        return Obstacle(TERMS, problem[0], remedy=problem[1])
    found = _reduced(fn, site)
    if found is None:
        text, remedy = _not_reduced(fn, site)
        return Obstacle(TERMS, text, remedy=remedy)
    made = Rows(fn, around, terms, before, after, *found, terms.body[:-1])
    problem = _apart(made)
    return made if problem is None else Obstacle(TERMS, problem[0], remedy=problem[1])


def _tile(fn: Function, around: LoopSite) -> Problem:
    """Why a loop is not over a tile of rows."""
    rows, tiling = around.loop, f"stripmine {around.loop.var} first"
    if not rows.parallel or rows.level is not None:
        what = "is mapped already" if rows.parallel else "is not parallel"
        return f"the loop over '{rows.var}' {what}", f"parallelise {rows.var}, and map it later"
    if value_of(rows.step) != 1 or rows.live_out or rows.type not in COUNTED:
        return f"the loop over '{rows.var}' does not count rows", f"normalise {rows.var} first"
    if fixed_trips(rows) is None:
        return f"the rows that '{rows.var}' counts are not a number", tiling
    if not always(fn, around.path, Bin("<", rows.lo, rows.hi)):
        return f"the loop over '{rows.var}' may have no iterations", tiling
    return None


def unlike_rows(fn: Function, rows: For, terms: For) -> Problem:
    """Why a row does not end where the next one begins."""
    types = symbols(fn)
    if condition(terms) is not None:
        return f"data end a row of '{rows.var}' (a break, or a condition of its loop)", WHOLE
    if value_of(terms.step) != 1 or terms.parallel or terms.type not in COUNTED:
        return f"the loop over '{terms.var}' does not count terms one by one", KEPT
    if not all(_holds(terms.type, type_of(e, types)) for e in (terms.lo, terms.hi)):
        return f"the bounds of '{terms.var}' have another type", KEPT
    following = substitute(terms.lo, {rows.var: Bin("+", Var(rows.var), Const(1))})
    if (start := _counted_anew(rows, terms)) is not None:
        counted = f"{terms.var} = {expr_text(start)}; {terms.var} < ...; {terms.var}++"
        return (
            f"'{terms.var}' counts the terms of each row from an end of it, not through all rows",
            f"count upwards from where a row begins: for ({counted})",
        )
    if poly(_simple(following)) != poly(_simple(terms.hi)):
        return f"the next row of '{rows.var}' does not begin where a row ends", KEPT
    changing = names(terms.lo) & (writes(rows.body) | declared(rows.body).keys())
    if changing:
        return f"the tile writes '{min(changing)}', which says where rows begin", KEPT
    return None


def _counted_anew(rows: For, terms: For) -> Expr | None:
    """Where a row begins, if its terms are counted from 0, or downwards from its end."""
    match terms.hi:
        case Bin("-", end, start) if value_of(terms.lo) is not None and names(start):
            following = substitute(start, {rows.var: Bin("+", Var(rows.var), Const(1))})
            return start if poly(_simple(following)) == poly(_simple(end)) else None
        case _:
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

    def simple(x: Expr) -> Expr:
        return replace(x, index=tuple(map(simplify, x.index))) if isinstance(x, Load) else x

    return map_expr(e, simple)


def _modelled(rows: For) -> Problem:
    if any(isinstance(s, Opaque | Return | Copy) for _, s in walk(rows.body)):
        return "a row holds what is not modelled", "write it as loops and assignments"
    if any(isinstance(s, Assign) and s.atomic for _, s in walk(rows.body)):
        return "rows update what others do", "distribute the rows first"
    return None


def _beside(before: tuple[Stmt, ...], rows: For) -> Problem:
    """Why what stands before the terms of a row cannot stay before those of all of them."""
    own = declared(rows.body)
    for s in before:
        if not _sets_scalar(s):
            return "a row does more than set scalars before its terms", "distribute the rows first"
    for _, s in walk(rows.body):
        if isinstance(s, Assign) and isinstance(s.target, Var) and s.target.name not in own:
            return f"rows share '{s.target.name}'", f"privatise {s.target.name} {rows.var} first"
    return None


def _sets_scalar(s: Stmt) -> bool:
    """Whether a statement declares or sets a scalar."""
    return (isinstance(s, Assign) and isinstance(s.target, Var)) or (
        isinstance(s, Decl) and not s.shape
    )


def _reduced(fn: Function, site: LoopSite) -> tuple[Reduction, Assign | If, Expr] | None:
    """The only reduction of a loop, by its last statement, of one term."""
    found = reductions(fn, site.path)
    if len(found) != 1 or found[0].op in (*PLACES, "&&", "||"):
        return None
    updates = operands(fn, found[0])
    if len(updates) != 1 or updates[0][0] != site.loop.body[-1] or found[0].array != found[0].var:
        return None
    return found[0], *updates[0]


def _not_reduced(fn: Function, site: LoopSite) -> tuple[str, str]:
    """Why a loop is no reduction of terms, and what to do about it."""
    found = reductions(fn, site.path)
    if len(found) == 1 and found[0].op == "+" and isinstance(site.loop.body[-1], If):
        name = found[0].var
        text = f"the loop over '{site.loop.var}' updates '{name}' under a condition"
        return text, f"write it without: {name} += test ? term : 0"
    return f"the loop over '{site.loop.var}' is not one reduction of terms", KEPT


def _apart(r: Rows) -> Problem:
    """Why terms cannot be computed apart from the rows that they belong to."""
    own = declared(r.terms.body).keys()
    if not all(_sets_scalar(s) for s in r.computed) or writes(r.computed) - own:
        return f"the loop over '{r.terms.var}' does more than compute terms", KEPT
    if r.reduction.var not in declared(r.rows.body).keys() - own:
        return f"'{r.reduction.var}' belongs to no row", f"privatise {r.reduction.var} first"
    used = names(r.term) | reads(r.computed)
    others = (writes(r.rows.body) | declared(r.rows.body).keys()) - own
    changing = used & (others | {r.rows.var})
    if changing:
        return f"a term depends on '{min(changing)}', which differs between rows", KEPT
    if not used & {r.terms.var}:
        return f"a term does not depend on '{r.terms.var}'", KEPT
    if r.type.bytes not in (4, 8):
        return f"terms have the type {r.type}", KEPT
    return None
