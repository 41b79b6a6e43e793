"""Running values: scalars that a loop updates, and whose value every iteration may use.

    for i: { s += a[i]; out[i] = s; }                  prefix sums; also * & | ^ min max
    for i: { s = a[i]*s + b[i]; y[i] = s; }            linear recurrences of first order
    for i: { if (f[i]) s = 0; s += a[i]; y[i] = s; }   segments: an iteration may begin anew
    for i: if (c(i)) out[k++] = a[i];                  compaction: k runs, out[k] is not read

What one iteration makes of s is a function of s that is free of it but for s itself, and these
functions can be composed before s is known: s + e, m*s + e, min(s, e), e. Nothing else in the loop
decides with s about how s goes on. (Blelloch, "Prefix sums and their applications", 1990, sections
1.2 to 1.4; Kirk and Hwu, "Programming Massively Parallel Processors", chapter 11.)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, TypeAlias

from loopxform.analysis.conversions import order_hidden
from loopxform.analysis.deps import dependences
from loopxform.analysis.reductions import update_at
from loopxform.analysis.scope import below
from loopxform.ir.affine import poly
from loopxform.ir.memo import remembered
from loopxform.ir.nodes import (
    Assign,
    Bin,
    Cast,
    Const,
    Copy,
    Decl,
    Expr,
    For,
    Function,
    If,
    Load,
    Opaque,
    Stmt,
    Un,
    Var,
)
from loopxform.ir.types import BOOL, UINT, ULONG, Scalar
from loopxform.ir.typing import symbols, type_of
from loopxform.ir.visit import Path, at, enclosing, names, stmt_exprs, walk_expr, writes
from loopxform.records import record
from loopxform.source import Loc

Form: TypeAlias = Literal["op", "linear", "set"]

OPERATORS = frozenset(["+", "*", "&", "|", "^", "min", "max"])

WHOLE = 4
"""Bytes of an int: what counts with less may wrap around."""


@record
class RunningUpdate:
    """The statement at `path` makes `s op value`, `factor*s + value` (0 where `value` is None), or
    `value` of s."""

    path: Path
    form: Form
    op: str
    value: Expr | None
    factor: Expr | None = None

    @property
    def operands(self) -> tuple[Expr, ...]:
        return tuple(e for e in (self.value, self.factor) if e is not None)


@record
class RunningValue:
    """A scalar that runs through a loop. `op` is the operator of its updates: "" where all of them
    set it, "linear" where sums and products are mixed. `restarts` says that some set it. Iterations
    use its value where it is `used`."""

    var: str
    op: str
    updates: tuple[RunningUpdate, ...]
    restarts: bool
    used: bool
    loc: Loc | None


@record
class Scan:
    """The running values of a loop; `needed` are the statements that compute their updates, those
    themselves included, and `compacted` the stores to elements that no other iteration touches,
    because a running value counts them."""

    values: tuple[RunningValue, ...]
    needed: frozenset[Path]
    compacted: frozenset[Path]

    @property
    def only_reduces(self) -> bool:
        """Whether the loop has nothing but reductions, which need no values in between."""
        return not any(v.used or v.restarts or v.op == "linear" for v in self.values)


@record
class NoScan:
    """Why a loop has no running values that can be computed apart from the rest of it."""

    message: str
    loc: Loc | None
    remedy: str


@remembered(64)
def scan_of(fn: Function, path: Path) -> Scan | NoScan:
    """The running values of the loop at `path`, those that no iteration uses among them."""
    loop = enclosing(fn, path)[-1]
    assert isinstance(loop, For)
    statements = tuple(below(loop, path))
    for _, s in statements:
        if isinstance(s, Opaque | Copy):
            why = s.reason if isinstance(s, Opaque) else "it holds staged copies"
            return NoScan(why, s.origin.loc, "write it as loops and assignments")
    found = tuple(_running(fn, loop, statements))
    if not found:
        text = f"the loop over '{loop.var}' does not just update any scalar"
        return NoScan(text, loop.origin.loc, "name a loop such as: s += a[i]; out[i] = s;")
    needed = _needed(fn, path, statements, found)
    if isinstance(needed, NoScan):
        return needed
    compacted = frozenset(_compacted(fn, path, statements, found))
    return Scan(found, needed, compacted)


# ---------------------------------------------------------------- the values


def _running(
    fn: Function, loop: For, statements: Sequence[tuple[Path, Stmt]]
) -> Iterator[RunningValue]:
    """The scalars from outside that the loop does nothing to but update."""
    local = {s.name for _, s in statements if isinstance(s, Decl)}
    local |= {s.var for _, s in statements if isinstance(s, For)} | {loop.var}
    targets = (s.target for _, s in statements if isinstance(s, Assign))
    every = dict.fromkeys(t.name for t in targets if isinstance(t, Var) and t.name not in local)
    header = names(loop.lo) | names(loop.hi) | names(loop.step)
    for name in every:
        updates = _updates(fn, statements, name)
        if not updates or name in header:
            continue
        forms = {u.form for u in updates} - {"set"}
        ops = {u.op for u in updates if u.form == "op"}
        ring = "linear" in forms or len(ops) > 1
        if ring and not ops <= {"+", "*"}:
            continue
        op = "linear" if ring else next(iter(ops), "")
        own = {p for u in updates for p in _places(fn, u.path)}
        used = any(name in names(e) for p, s in statements if p not in own for e in stmt_exprs(s))
        restarts = any(u.form == "set" for u in updates)
        loc = at(fn, updates[0].path).origin.loc
        yield RunningValue(name, op, updates, restarts, used, loc)


def _places(fn: Function, path: Path) -> tuple[Path, ...]:
    """A statement and, of a condition that finds an extremum, the assignment in it."""
    return (path, (*path, 0)) if isinstance(at(fn, path), If) else (path,)


def _updates(
    fn: Function, statements: Sequence[tuple[Path, Stmt]], name: str
) -> tuple[RunningUpdate, ...]:
    """All that the statements do to a scalar; () where that is more than updates."""
    found: list[RunningUpdate] = []
    inside: set[Path] = set()
    for place, s in statements:
        if place in inside:
            continue
        update = _update(fn, place, s, name)
        if update is not None:
            found.append(update)
            inside.update(_places(fn, place)[1:])
        elif isinstance(s, Assign) and s.target == Var(name):
            return ()
    return tuple(found)


def _update(fn: Function, place: Path, s: Stmt, name: str) -> RunningUpdate | None:
    known = update_at(place, s)
    if known is not None and known.target == Var(name) and known.op in OPERATORS:
        fits = _converts(fn, name, known.op, known.value)
        factor = _factor_and_rest(fn, known.stmt, name)[0] if known.op == "*" else None
        return RunningUpdate(place, "op", known.op, known.value, factor) if fits else None
    if not isinstance(s, Assign) or s.target != Var(name):
        return None
    if not s.op and name not in names(s.value):
        return RunningUpdate(place, "set", "", s.value)
    factor, rest = _factor_and_rest(fn, s, name)
    if factor is None:
        return None
    fits = _converts(fn, name, "+", Bin(s.op, s.target, s.value) if s.op else s.value)
    return RunningUpdate(place, "linear", "linear", rest, factor) if fits else None


def _converts(fn: Function, name: str, op: str, e: Expr) -> bool:
    """Whether no conversion to the type of the scalar shows in which order updates happen."""
    types = symbols(fn)
    own = types[name]
    if own is BOOL:
        return False
    return order_hidden(op, own, type_of(e, types), e)


def _factor_and_rest(fn: Function, s: Assign, name: str) -> tuple[Expr | None, Expr | None]:
    """m and b of an assignment of m*s + b; no m where it is not linear in s. m is computed in a
    type as wide as that of s, in which s is multiplied by its factors."""
    own = symbols(fn)[name]
    wide = own if own.is_float else UINT if own.bytes <= WHOLE else ULONG
    value = Bin(s.op, s.target, s.value) if s.op else s.value
    factor, rest = _linear(value, name, wide) or (None, None)
    return factor.operand if isinstance(factor, Cast) else factor, rest


def _linear(e: Expr, name: str, wide: Scalar) -> tuple[Expr | None, Expr | None] | None:
    """m and b of an expression m*s + b, None for 0; None where it is not linear in s."""
    if name not in names(e):
        return None, e
    match e:
        case Var():
            return Const(1), None
        case Un("-", operand):
            inner = _linear(operand, name, wide)
            return inner and (_negative(inner[0]), _negative(inner[1]))
        case Bin("+" | "-" as op, left, right):
            a, b = _linear(left, name, wide), _linear(right, name, wide)
            if a is None or b is None:
                return None
            return _sum(op, a[0], b[0]), _sum(op, a[1], b[1])
        case Bin("*", left, right) if name not in names(left) or name not in names(right):
            other, inside = (left, right) if name in names(right) else (right, left)
            inner = _linear(inside, name, wide)
            factor = Cast(wide, other)
            return inner and (_product(inner[0], factor), _product(inner[1], other))
        case _:
            return None


def _negative(e: Expr | None) -> Expr | None:
    return None if e is None else Un("-", e)


def _sum(op: str, a: Expr | None, b: Expr | None) -> Expr | None:
    if a is None or b is None:
        return a if b is None else b if op == "+" else Un("-", b)
    return Bin(op, a, b)


def _product(a: Expr | None, b: Expr) -> Expr | None:
    return None if a is None else b if a == Const(1) else Bin("*", a, b)


# ---------------------------------------------------------------- what the updates need


def _needed(
    fn: Function,
    path: Path,
    statements: Sequence[tuple[Path, Stmt]],
    found: Sequence[RunningValue],
) -> frozenset[Path] | NoScan:
    """The statements that compute the updates; or why they cannot stand alone."""
    running = {v.var: v for v in found}
    updates = {p for v in found for u in v.updates for p in _places(fn, u.path)}
    local = {s.name: s for _, s in statements if isinstance(s, Decl)}
    needed = {u.path for v in found for u in v.updates}
    sought = {n for v in found for u in v.updates for e in u.operands for n in names(e)}
    while True:
        sought |= {n for p in needed for n in _conditions(fn, path, p)}
        more = {p for p, s in statements if _scalar(s) in sought} - needed - updates
        if not more:
            break
        needed |= more
        sought |= {n for p in more for e in stmt_exprs(at(fn, p)) for n in names(e)}
    for name in sorted(sought & running.keys()):
        text = f"an update depends on '{name}' by a condition, a subscript or another operator"
        return NoScan(text, running[name].loc, "update running values by what is free of them")
    for p in sorted(needed):
        s = at(fn, p)
        set_here = _scalar(s)
        if (
            set_here is not None
            and set_here not in running
            and (set_here not in local or local[set_here].shape)
        ):
            text = (
                f"'{set_here}' passes from iteration to iteration, and decides about running values"
            )
            return NoScan(text, s.origin.loc, "declare it in the body of the loop")
    around = {q for p in needed for q in _around(p)[len(path) :]}
    around_or_read = around | {p for p, s in statements if isinstance(s, For) and s.var in sought}
    for q in sorted(around_or_read):
        s = at(fn, q)
        if isinstance(s, For) and s.live_out:
            text = f"'{s.var}' is read after the loop over it"
            return NoScan(text, s.origin.loc, "declare it in the loop")
    for d in dependences(fn, path, counters=True):
        if d.kind == "flow" and d.array in sought - local.keys() and d.sink.path in around:
            text = f"'{d.array}' is set by the loop, and decides how a running value goes on"
            return NoScan(text, d.sink.loc, "split the loop, or compute it before")
    return frozenset(needed)


def _scalar(s: Stmt) -> str | None:
    """What a statement sets, or declares; None where that is an element, or nothing."""
    match s:
        case Assign(Var(name)) | Decl(name):
            return name
        case _:
            return None


def _conditions(fn: Function, path: Path, place: Path) -> frozenset[str]:
    """The names in the headers between the loop at `path` and a statement in it."""
    between = enclosing(fn, place)[len(path) : -1]
    return frozenset(n for s in between for e in stmt_exprs(s) for n in names(e))


def _around(path: Path) -> tuple[Path, ...]:
    return tuple(path[:n] for n in range(1, len(path) + 1))


# ---------------------------------------------------------------- compaction


def _compacted(
    fn: Function,
    path: Path,
    statements: Sequence[tuple[Path, Stmt]],
    found: Sequence[RunningValue],
) -> Iterator[Path]:
    """Stores `out[k + c] = e` beside `k += d` with 0 <= c < d: where k only grows, by numbers, each
    of them has elements of its own, if the loop does nothing else with the array."""
    stores: dict[str, list[Path]] = {}
    other: set[str] = set()
    for p, s in statements:
        target = s.target if isinstance(s, Assign) and not s.op else None
        if isinstance(target, Load):
            stores.setdefault(target.array, []).append(p)
        elements = [x for e in stmt_exprs(s) for x in walk_expr(e) if isinstance(x, Load)]
        other |= {x.array for x in elements if x is not target}
    for array, places in stores.items():
        counted = (v for v in found if array not in other and _grows(fn, v))
        if any(all(_is_own_element(fn, path, p, v) for p in places) for v in counted):
            yield from places


def filled(fn: Function, path: Path, scan: Scan) -> dict[str, str]:
    """The arrays that a compaction fills without gaps, each with the value that counts it: every
    time that one grows, by 1, an element of its own is stored, at most once in an iteration."""
    out: dict[str, str] = {}
    for place in scan.compacted:
        s = at(fn, place)
        inner = any(isinstance(x, For) for x in enclosing(fn, place)[len(path) : -1])
        if not isinstance(s, Assign) or not isinstance(s.target, Load) or s.op or inner:
            continue
        array = s.target.array
        stores = [p for p in scan.compacted if _stores_to(at(fn, p), array)]
        for v in scan.values:
            once = len(v.updates) == 1 and _growth(fn, v.updates[0]) == 1 and _grows(fn, v)
            plain = once and len(stores) == len(s.target.index) == 1
            if plain and _is_own_element(fn, path, place, v):
                out[array] = v.var
    return out


def _stores_to(s: Stmt, array: str) -> bool:
    return isinstance(s, Assign) and isinstance(s.target, Load) and s.target.array == array


def _grows(fn: Function, v: RunningValue) -> bool:
    """Whether a running value only grows, by numbers."""
    return v.op == "+" and not v.restarts and all(_growth(fn, u) > 0 for u in v.updates)


def _growth(fn: Function, u: RunningUpdate) -> int:
    """What an update adds, a number; 0 where that is not known, or it subtracts."""
    s = at(fn, u.path)
    added = isinstance(s, Assign) and (
        s.op == "+" or (isinstance(s.value, Bin) and not s.op and s.value.op == "+")
    )
    number = isinstance(u.value, Const) and u.value.type.is_integer
    return int(u.value.value) if added and number and isinstance(u.value, Const) else 0


def _is_own_element(fn: Function, path: Path, place: Path, v: RunningValue) -> bool:
    """Whether a store is to an element that the one update next to it counts."""
    s, body = at(fn, place), place[:-1]
    beside = [u for u in v.updates if _in_one_body(u.path, place)]
    if len(beside) != 1 or not isinstance(s, Assign) or not isinstance(s.target, Load):
        return False
    number, here = abs(beside[0].path[-1]), abs(place[-1])
    first, last = min(number, here), max(number, here)
    sign = 1 if place[-1] >= 0 else -1
    between = (at(fn, (*body, sign * n)) for n in range(first + 1, last))
    if any(v.var in writes((x,)) for x in between):
        return False
    step = _growth(fn, beside[0])
    if not _counts_apart(fn, path, place, v, step):
        return False
    least = 0 if here < number else -step
    gaps = ((poly(e) - poly(Var(v.var))).value for e in s.target.index)
    return any(gap is not None and least <= gap < least + step for gap in gaps)


def _counts_apart(fn: Function, path: Path, place: Path, v: RunningValue, step: int) -> bool:
    """Whether no count comes twice because an unsigned number wraps around."""
    kind = symbols(fn)[v.var]
    if not kind.is_unsigned or kind.bytes < WHOLE:
        return kind.bytes >= WHOLE
    inner = any(isinstance(s, For) for s in enclosing(fn, place)[len(path) : -1])
    loop = at(fn, path)
    assert isinstance(loop, For)
    few = len(v.updates) == step == 1 and not inner and loop.type.bytes <= kind.bytes
    return few or kind.bytes > WHOLE


def _in_one_body(a: Path, b: Path) -> bool:
    return a[:-1] == b[:-1] and (a[-1] < 0) == (b[-1] < 0)
