"""The dependence matrix of a nest: a row per dependence, a column per loop (Cholewa-Madsen and
Holst, step 0).

    kind  array  statements                    t    i
    flow  a      S0 (line 5) -> S0 (line 5)    < 1  > -1

Statements that are not modelled may depend on everything: each of them is told once, instead of
rows to and from all others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from loopxform.analysis.dependence import Dependence, Endpoint
from loopxform.analysis.deps import carried_rows, dependences_among, pairs
from loopxform.analysis.directions import OPEN
from loopxform.analysis.region import OPAQUE, Region, region
from loopxform.analysis.scope import below
from loopxform.budget import Budget, Exhausted, shared, spend, within
from loopxform.display import Shown
from loopxform.ir.nodes import For, Function, Opaque
from loopxform.ir.visit import Path, enclosing, walk
from loopxform.records import record

MOST_PAIRS = 100_000
"""Pairs of accesses of one nest that each have rows of their own: a second or two, some 100 MiB."""

MOST_LINES = 60
"""Rows of one nest that are printed for people; `--format json` has them all."""

ABRIDGED = (
    "{} pairs of accesses: of those alike one is shown, and of rows within one iteration none"
)


@record
class Matrix(Shown):
    """The dependences of one nest: rows over the loops of the nest in text order. `unmodelled` has
    a row from each statement that is not modelled to itself, of the array `*`; a nest that was too
    hard for the limits has such a row from the loop itself. `note` says so, or that there are too
    many pairs of accesses for rows of each."""

    path: Path
    loops: tuple[str, ...]
    loop_paths: tuple[Path, ...]
    rows: tuple[Dependence, ...]
    unmodelled: tuple[Dependence, ...] = ()
    note: str = ""

    def __repr__(self) -> str:
        return f"<Matrix over {', '.join(self.loops)}: {len(self.rows)} rows>"

    def entry(self, d: Dependence, column: int) -> str:
        """The direction of the row `d` in a `column` (from 0 on), with the distance where it is
        known and not 0; blank where the loop is not around both statements."""
        path = self.loop_paths[column]
        if path not in d.loop_paths:
            return ""
        n = d.loop_paths.index(path)
        return f"{d.direction[n]} {d.distance[n]}" if d.distance[n] else d.direction[n]


def matrix(fn: Function, seconds: float | None = None) -> tuple[Matrix, ...]:
    """One matrix per outermost loop, in text order. The nests share `seconds` of CPU time, and what
    is left of the budget in force; of one that needs more it says so."""
    paths = [p for p, s in walk(fn.body) if isinstance(s, For) and _is_outermost(fn, p)]
    with within(Budget.of(seconds)):
        return shared(paths, lambda path: _matrix(fn, path))


def _is_outermost(fn: Function, path: Path) -> bool:
    return not any(isinstance(s, For) for s in enclosing(fn, path)[:-1])


def _matrix(fn: Function, path: Path) -> Matrix:
    loop = enclosing(fn, path)[-1]
    assert isinstance(loop, For)
    inner = [(path, loop.var), *((p, x.var) for p, x in below(loop, path) if isinstance(x, For))]
    unmodelled = tuple(_unmodelled(fn, path, loop))
    rows, note = tuple[Dependence, ...](), ""
    try:
        spend()
        where = _modelled(fn, path, loop)
        many = pairs(where)
        if many > MOST_PAIRS:
            rows, note = carried_rows(where), ABRIDGED.format(many)
        else:
            rows = dependences_among(where)
    except Exhausted as e:
        note = f"{e.message}; {e.help}"
        end = Endpoint(OPAQUE, loop.origin.loc, path)
        unmodelled = (*unmodelled, _anything(end, [(path, loop)], note))
    names, paths = tuple(v for _, v in inner), tuple(p for p, _ in inner)
    return Matrix(path, names, paths, rows, unmodelled, note)


def _modelled(fn: Function, path: Path, loop: For) -> Region:
    """The statements of a nest that are modelled."""
    live = any(s.live_out for _, s in below(loop, path) if isinstance(s, For))
    where = region(fn, path, counters=live)
    modelled = tuple(i for i in where.instances if i.label != OPAQUE)
    return where if modelled == where.instances else replace(where, instances=modelled)


def _unmodelled(fn: Function, path: Path, loop: For) -> Iterator[Dependence]:
    for place, s in below(loop, path):
        if not isinstance(s, Opaque):
            continue
        end = Endpoint(OPAQUE, s.origin.loc, place)
        parents = enclosing(fn, place)[:-1]
        around = [(place[: n + 1], x) for n, x in enumerate(parents) if isinstance(x, For)]
        yield _anything(end, [(p, x) for p, x in around if p[: len(path)] == path], s.reason)


def _anything(end: Endpoint, around: Sequence[tuple[Path, For]], doubt: str) -> Dependence:
    """What stands for every dependence that a statement may have."""
    names, paths = tuple(x.var for _, x in around), tuple(p for p, _ in around)
    signs, distance = OPEN * len(around), (None,) * len(around)
    return Dependence(
        "flow", "*", end, end, names, paths, signs, distance, exact=False, doubt=doubt
    )


def matrix_text(m: Matrix, file: str | None = None) -> str:
    """The matrix as a table, for a reader of a file. Of very many rows, the first are shown."""
    return "".join(f"{x}\n" for x in (*aligned(matrix_table(m, file)), *matrix_notes(m, file)))


def matrix_table(m: Matrix, file: str | None = None) -> list[list[str]]:
    """The head and the rows that are shown, a text for each column; nothing without rows."""
    table = [["kind", "array", "statements", *m.loops]] if m.rows else []
    for d in m.rows[:MOST_LINES]:
        name = f"{d.array} ({d.reduction})" if d.reduction else d.array
        signs = [m.entry(d, n) for n in range(len(m.loops))]
        kind = d.kind + ("" if d.exact else "?")
        table.append([kind, name, f"{d.source.words(file)} -> {d.sink.words(file)}", *signs])
    return table


def aligned(table: Sequence[Sequence[str]]) -> list[str]:
    """The rows of a table as lines."""
    widths = [max(len(row[n]) for row in table) for n in range(len(table[0]))] if table else []
    return [_line(row, widths) for row in table]


def matrix_notes(m: Matrix, file: str | None = None) -> Iterator[str]:
    """What is said of a matrix below its rows."""
    if not m.rows and not m.unmodelled:
        yield "no dependences"
    if len(m.rows) > MOST_LINES:
        yield f"... and {len(m.rows) - MOST_LINES} more rows (--format json has them all)"
    if any(not d.exact for d in m.rows[:MOST_LINES]):
        yield "?  not proven, but it could not be excluded"
    if m.note:
        yield m.note
    ends = [d.source for d in m.unmodelled if d.source.path != m.path]
    found = {(x.file, x.line): x for end in ends if (x := end.loc) is not None}
    for _, loc in sorted(found.items()):
        yield f"{loc.seen_from(file or loc.file)} is not modelled: it may depend on everything"


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(text.ljust(w) for text, w in zip(row, widths)).rstrip()
