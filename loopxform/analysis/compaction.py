"""Compaction: stores to elements that a running value counts, each of them another one.

for i: if (c(i)) out[k++] = a[i];                          out[k] is nobody else's
for i: if (c(i)) { if (k < most) out[k] = a[i]; k++; }     nor here
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from loopxform.analysis.running_updates import WHOLE, RunningUpdate, RunningValue
from loopxform.ir.affine import poly
from loopxform.ir.nodes import Assign, Bin, Const, For, Function, If, Load, Stmt, Var
from loopxform.ir.typing import symbols
from loopxform.ir.visit import Path, at, enclosing, stmt_exprs, walk_expr, writes


def compacted(
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


def filled(
    fn: Function, path: Path, values: Sequence[RunningValue], stores: frozenset[Path]
) -> dict[str, str]:
    """The arrays that a compaction fills without gaps, each with the value that counts it: every
    time that one grows, by 1, an element of its own is stored, at most once in an iteration."""
    out: dict[str, str] = {}
    for place in stores:
        s = at(fn, place)
        inner = any(isinstance(x, For) for x in enclosing(fn, place)[len(path) : -1])
        if not isinstance(s, Assign) or not isinstance(s.target, Load) or s.op or inner:
            continue
        array = s.target.array
        here = [p for p in stores if _stores_to(at(fn, p), array)]
        for v in values:
            once = len(v.updates) == 1 and _growth(fn, v.updates[0]) == 1 and _grows(fn, v)
            beside = once and _in_one_body(v.updates[0].path, place)
            plain = beside and len(here) == len(s.target.index) == 1
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
    """Whether a store is to an element that the one update next to it counts, or next to a
    condition that it stands under (`if (k < most) out[k] = e; k++;`)."""
    s = at(fn, place)
    around = [place[:n] for n in range(len(path) + 1, len(place) + 1)]
    conditions = [p for p in around if p == place or _is_condition(fn, p, place)]
    beside = [(u, p) for u in v.updates for p in conditions if _in_one_body(u.path, p)]
    if len(beside) != 1 or not isinstance(s, Assign) or not isinstance(s.target, Load):
        return False
    ((update, outer),) = beside
    if outer != place and v.var in writes((at(fn, outer),)):
        return False
    body, number, here = outer[:-1], abs(update.path[-1]), abs(outer[-1])
    first, last = min(number, here), max(number, here)
    sign = 1 if outer[-1] >= 0 else -1
    between = (at(fn, (*body, sign * n)) for n in range(first + 1, last))
    if any(v.var in writes((x,)) for x in between):
        return False
    step = _growth(fn, update)
    if not _counts_apart(fn, path, place, v, step):
        return False
    least = 0 if here < number else -step
    gaps = ((poly(e) - poly(Var(v.var))).value for e in s.target.index)
    return any(gap is not None and least <= gap < least + step for gap in gaps)


def _is_condition(fn: Function, outer: Path, place: Path) -> bool:
    """Whether nothing but conditions is between a statement, a condition itself, and another one
    inside."""
    between = enclosing(fn, place)[len(outer) - 1 : -1]
    return all(isinstance(x, If) for x in between)


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
