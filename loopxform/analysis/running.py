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

from collections.abc import Sequence

from loopxform.analysis.compaction import compacted
from loopxform.analysis.deps import dependences_of
from loopxform.analysis.extrema import located
from loopxform.analysis.running_updates import RunningValue, places, running_values, unlike_updates
from loopxform.analysis.scope import below
from loopxform.ir.memo import remembered
from loopxform.ir.nodes import Assign, Copy, Decl, For, Function, If, Opaque, Stmt, Var
from loopxform.ir.printer import expr_text
from loopxform.ir.visit import Path, at, enclosing, names, stmt_exprs
from loopxform.records import record
from loopxform.source import Loc


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
    runs: bool = False
    """Whether a scalar runs through it all the same."""


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
    found = tuple(running_values(fn, loop, statements))
    if not found:
        if (other := unlike_updates(loop, statements)) is not None:
            return NoScan(*other, runs=True)
        text = f"the loop over '{loop.var}' does not just update any scalar"
        return NoScan(text, loop.origin.loc, "name a loop such as: s += a[i]; out[i] = s;")
    needed = _needed(fn, path, statements, found)
    if isinstance(needed, NoScan):
        return needed
    stores = frozenset(compacted(fn, path, statements, found))
    return Scan(found, needed, stores)


def _of_place(statements: Sequence[tuple[Path, Stmt]], name: str) -> tuple[str, str] | None:
    """What helps where iterations use the place of a running extremum."""
    for _, s in statements:
        kept = located(s) if isinstance(s, If) else None
        if kept is None or not isinstance(s, If):
            continue
        parts = [x.target for x in s.then if isinstance(x, Assign)]
        if parts[kept.value] == Var(name):
            place = parts[kept.indices[0]]
            text = f"'{expr_text(place)}' is set where '{name}' is"
            remedy = f"compute '{name}' in a loop of its own, into an array, and compare with the "
            return text, f"{remedy}element before to find '{expr_text(place)}' in a second loop"
    return None


def _entangled(
    fn: Function, path: Path, found: Sequence[RunningValue], name: str
) -> tuple[str, str]:
    """Why updates that depend on a running value keep the loop in order, and what helps: that is
    computed first, where it needs none of the others."""

    def asked(v: RunningValue) -> frozenset[str]:
        operands = (names(e) for u in v.updates for e in u.operands)
        conditions = (_conditions(fn, path, u.path) for u in v.updates)
        return frozenset[str]().union(*operands, *conditions)

    running = {v.var: asked(v) for v in found}
    others = sorted(v for v, read in running.items() if name in read and v != name)
    if others and not running[name] & running.keys():
        text = (
            f"the update of '{others[0]}' reads the value that '{name}' has in the same iteration"
        )
        return text, f"compute '{name}' in a loop of its own, into an array, and read that here"
    text = f"an update depends on '{name}' by a condition, a subscript or another operator"
    return text, "update running values by what is free of them"


def _needed(
    fn: Function,
    path: Path,
    statements: Sequence[tuple[Path, Stmt]],
    found: Sequence[RunningValue],
) -> frozenset[Path] | NoScan:
    """The statements that compute the updates; or why they cannot stand alone."""
    running, loop = {v.var: v for v in found}, at(fn, path)
    assert isinstance(loop, For)
    updates = {p for v in found for u in v.updates for p in places(fn, u.path)}
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
        text, remedy = _of_place(statements, name) or _entangled(fn, path, found, name)
        return NoScan(text, running[name].loc, remedy, runs=True)
    for p in sorted(needed):
        s = at(fn, p)
        set_here = _scalar(s)
        if (
            set_here is not None
            and set_here not in running
            and (set_here not in local or local[set_here].shape)
        ):
            if (other := unlike_updates(loop, statements, running)) is not None:
                return NoScan(*other, runs=True)
            text = (
                f"'{set_here}' passes from iteration to iteration, and decides about running values"
            )
            return NoScan(text, s.origin.loc, "declare it in the body of the loop", runs=True)
    around = {q for p in needed for q in _around(p)[len(path) :]}
    around_or_read = around | {p for p, s in statements if isinstance(s, For) and s.var in sought}
    for q in sorted(around_or_read):
        s = at(fn, q)
        if isinstance(s, For) and s.live_out:
            text = f"'{s.var}' is read after the loop over it"
            return NoScan(text, s.origin.loc, "declare it in the loop", runs=True)
    for d in dependences_of(sought - local.keys(), fn, path, counters=True):
        if d.kind == "flow" and d.sink.path in around:
            text = f"'{d.array}' is set by the loop, and decides how a running value goes on"
            return NoScan(text, d.sink.loc, "split the loop, or compute it before", runs=True)
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
