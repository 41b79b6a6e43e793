"""Names for loops that are known algorithms only once steps have prepared them: the steps with
which `offload` runs them in parallel, so that both say the same.

    if (c) { out[*n] = a[i]; (*n)++; }                the count in a scalar: a compaction
    if (c) { if (k == most) break; out[k++] = a[i]; } counting on: a compaction
    s = f[i] ? a[i] : s + a[i]; out[i] = s;           branches for the values: a segmented scan of s
    y[i] = k[i] == k[i - 1] ? y[i - 1] + 1 : 1;       y[i - 1] in a scalar: a segmented scan of y
    for (i...) for (j...) y[i][j] = c ? y[i - 1][j] + 1 : 0;      the same, of each column
    for (i...) { row = 0; for (j...) { row += a[i][j]; y[i][j] = y[i - 1][j] + row; } }
                                                      rows first, then columns: scans of both
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from loopxform.analysis.idioms import Idiom
from loopxform.analysis.scope import below
from loopxform.analysis.spelling import spelled
from loopxform.analysis.subscripts_from_zero import SHARE
from loopxform.analysis.verdict import ENOUGH, LoopVerdict, judge
from loopxform.budget import Exhausted, part, within
from loopxform.ir.nodes import For, Function, Opaque, While
from loopxform.ir.typing import symbols
from loopxform.ir.visit import Path, at
from loopxform.source import Loc

if TYPE_CHECKING:
    from loopxform.api.prepared_loops import Prepared

MOST_STATEMENTS = 40
"""Those of a loop that is prepared."""


def with_prepared_names(
    verdicts: Sequence[LoopVerdict],
    fn: Function,
    several: frozenset[Loc] = frozenset(),
    *,
    again: bool = True,
) -> tuple[LoopVerdict, ...]:
    """The verdicts, with names for loops that dependences alone keep in order. `several` are places
    of more than one loop, of which nothing can be told; what one preparation makes of a loop may be
    prepared `again`."""
    unnamed = [v for v in verdicts if v.loc not in several and _is_unnamed(fn, v)]
    names: dict[Path, tuple[Idiom, ...]] = {}
    with suppress(Exhausted), within(part(SHARE)):
        for v in unnamed:
            names[v.path] = next((x for x in _names(fn, v, again=again) if x), ())
    return tuple(replace(v, idioms=names.get(v.path) or v.idioms) for v in verdicts)


def _is_unnamed(fn: Function, v: LoopVerdict) -> bool:
    if v.loc is None or v.parallel in ENOUGH["reduction"] or v.idioms:
        return False
    loop = at(fn, v.path)
    inside = [s for _, s in below(loop, v.path)] if isinstance(loop, For | While) else []
    left = isinstance(loop, While) or any(isinstance(s, Opaque) and s.is_break for s in inside)
    if any(isinstance(s, Opaque) and not s.is_break for s in inside):
        return False
    return 0 < len(inside) <= MOST_STATEMENTS and bool(v.left or left)


def _names(fn: Function, v: LoopVerdict, *, again: bool) -> Iterator[tuple[Idiom, ...]]:
    """What a loop is by one preparation after the other; () where that has no name."""
    from loopxform.api.prepared_loops import prepared_loops  # loads steps, which others do without

    return (_named(fn, made, v, again=again) for made in prepared_loops(fn, v.path))


def _named(fn: Function, made: Prepared, v: LoopVerdict, *, again: bool) -> tuple[Idiom, ...]:
    """What the loops are that a loop has become, where none of them is anything else."""
    assert v.loc is not None
    judged = judge(made.function, only=frozenset([v.loc]))
    found = tuple(x for x in judged if x.loc == v.loc)
    if again:
        found = with_prepared_names(found, made.function, again=False)
    if not all(x.idioms or x.parallel in ENOUGH["reduction"] for x in found):
        return ()
    texts = replace(fn, spelling=made.elements)
    every = dict.fromkeys(spelled(replace(i, paths=()), texts) for x in found for i in x.idioms)
    known = symbols(fn)
    return tuple(every) if all(i.variable.split("[")[0] in known for i in every) else ()
