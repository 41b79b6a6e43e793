"""What a loop is by the name of the algorithm that runs it in parallel.

    scan         s += a[i]; out[i] = s;          a value that an associative operation brings from
                 y[i] = a[i]*y[i-1] + b[i];      one iteration to the next, with what it is on the
                 if (a[i] > m) m = a[i]; ...     way
    compaction   if (c) out[k++] = a[i];         elements one behind the other: a scan of the
                 if (c && k < n) out[k++] = a[i];     condition says where
    histogram    h[a[i]]++;                      a reduction to elements that data name
    flags        seen[a[i]] = 1;                 elements that data name, all set to one value
    scatter      out[a[i]] = b[i];               elements that data name: the last one stored stays
    search       if (a[i] == key) break;         the first iteration for which a condition holds
    reduction    s += a[i];                      and arg-min, arg-max

A loop has a name where every dependence that it carries is explained by one. Names change no
verdict. (Blelloch, Prefix sums and their applications, 1990.)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import islice

from loopxform.analysis.idioms.capped import uncapped
from loopxform.analysis.idioms.chunked import scan_in_chunks
from loopxform.analysis.idioms.compaction import is_filled, is_in_place, is_read
from loopxform.analysis.idioms.flow import Flow
from loopxform.analysis.idioms.neighbours import scan_of_elements
from loopxform.analysis.idioms.record import Idiom, Kind
from loopxform.analysis.idioms.scans import is_induction, scan
from loopxform.analysis.idioms.searches import search
from loopxform.analysis.reductions import Reduction
from loopxform.analysis.same_stores import SameStores, same_stores
from loopxform.analysis.scatters import Scatter, scatter
from loopxform.ir.nodes import Assign, Expr, For, Function, Load, Var
from loopxform.ir.printer import expr_text
from loopxform.ir.visit import Path, at, enclosing, loads, names, walk, writes

MOST_STATEMENTS = 250
"""Those of a loop that is looked at: what flows where takes time that grows with their square."""


def idioms(
    fn: Function, path: Path, left: Sequence[str], reduced: Sequence[Reduction]
) -> tuple[Idiom, ...]:
    """What the loop at `path` is. `left` are the variables of the dependences that neither the
    reductions nor private copies take away; () where one of them has no name."""
    loop = enclosing(fn, path)[-1]
    assert isinstance(loop, For)
    named = tuple(_reduction(loop, r, fn) for r in reduced)
    if not left:
        return named
    if len(list(islice(walk(loop.body), MOST_STATEMENTS + 1))) > MOST_STATEMENTS:
        return ()
    known = _carried(fn, path, left, reduced, named)
    plain = None if known else uncapped(fn, path, left)
    if plain is None:
        return known
    known = _carried(plain.function, path, left, reduced, named)
    return tuple(replace(x, bound=plain.bounds.get(x.variable, "")) for x in known)


def _carried(
    fn: Function,
    path: Path,
    left: Sequence[str],
    reduced: Sequence[Reduction],
    named: tuple[Idiom, ...],
) -> tuple[Idiom, ...]:
    """What explains the dependences that are `left`, and the reductions that are `named`; () where
    one of them has no explanation."""
    loop = enclosing(fn, path)[-1]
    assert isinstance(loop, For)
    flow = Flow(fn, path, loop, frozenset(left) | {r.array for r in reduced})
    if not flow.simple or flow.changes(names(loop.hi) | names(loop.step)):
        return ()
    in_place = {a for a in left for k in left if k != a and is_in_place(flow, a, k)}
    if in_place:
        carried = frozenset(left).union(r.array for r in reduced) - in_place
        flow = Flow(fn, path, loop, carried, frozenset(in_place))
    found = {x.array: _flags(x) for x in same_stores(fn, path) if x.array in left}
    counting = {name for name in left if is_induction(flow, name)}
    for name in (n for n in left if n not in counting and n not in found):
        known = scan(flow, name) or scan_of_elements(flow, name) or scan_in_chunks(flow, name)
        if known is not None:
            found[name] = known
    rest = (name for name in left if name not in found and name not in counting)
    filled = {name: _counter(flow, name, found) for name in rest}
    for name in [n for n, counter in filled.items() if counter is None]:
        by_key = scatter(fn, path, name)
        if isinstance(by_key, Scatter) and _is_by_key(loop, by_key, left):
            found[name] = Idiom("scatter", name, paths=(by_key.path,))
            del filled[name]
    if not (found or named) or not all(filled.values()):
        return ()
    for counter in dict.fromkeys(filled.values()):
        if counter is not None:
            arrays = tuple(name for name, x in filled.items() if x == counter)
            counted = found[counter]
            found[counter] = Idiom(
                "compaction",
                counter,
                condition=counted.condition,
                arrays=arrays,
                paths=counted.paths,
            )
    return (*found.values(), *named)


__all__ = ["Idiom", "idioms", "search"]


def _counter(flow: Flow, array: str, found: dict[str, Idiom]) -> str | None:
    """The scan by which an array is filled."""
    sums = [name for name, x in found.items() if x.op == "+" and not x.segmented]
    if is_read(flow, array):
        return next((name for name in sums if is_in_place(flow, array, name)), None)
    return next((name for name in sums if is_filled(flow, array, name)), None)


def _reduction(loop: For, r: Reduction, fn: Function) -> Idiom:
    if r.op in ("argmin", "argmax"):
        kind: Kind = "arg-min" if r.op == "argmin" else "arg-max"
        return Idiom(kind, r.var, paths=r.paths)
    if r.fixed:
        return Idiom("reduction", r.var, r.op, paths=r.paths)
    updates = [at(fn, p) for p in r.paths]
    targets = [s.target for s in updates if isinstance(s, Assign) and isinstance(s.target, Load)]
    data = _data(loop)
    by_data = any(data(i) for t in targets if t.array == r.array for i in t.index)
    return Idiom("histogram" if by_data else "reduction", r.var, r.op, paths=r.paths)


def _flags(stores: SameStores) -> Idiom:
    return Idiom("flags", stores.array, expr_text(stores.value), paths=stores.paths)


def _is_by_key(loop: For, found: Scatter, left: Sequence[str]) -> bool:
    """Whether elements that an iteration reads say where it stores, and no iteration before."""
    index, data = found.target.index, _data(loop)
    return any(map(data, index)) and not any(names(e) & set(left) for e in index)


def _data(loop: For) -> Callable[[Expr], bool]:
    """Whether an expression of the body is computed from elements that iterations read."""
    inner = {s.var for _, s in walk(loop.body) if isinstance(s, For)}
    moving = writes(loop.body) | inner | {loop.var}
    read: set[str] = set()

    def is_data(e: Expr) -> bool:
        return bool(names(e) & read) or any(names(x) & moving for x in loads(e))

    found = (s for _, s in walk(loop.body) if isinstance(s, Assign))
    values = [(s.target.name, s.value) for s in found if isinstance(s.target, Var)]
    for _ in values:
        read |= {name for name, value in values if is_data(value)}
    return is_data
