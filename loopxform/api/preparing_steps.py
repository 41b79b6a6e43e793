"""Steps that make a loop parallel whose iterations depend on each other as it is written.

    for (i...) { a[i] *= c[i]; b[i] += a[i + 1]; }     node-split a i
    for (i...) { a[i + 1] = b[i]; d[i] = a[i]; }       distribute i reordered
    for (i...) if (c) b[i + 1] = a[i]; else a[i] = b[i];   distribute-branches i
    for (i...) { k++; a[k] = b[i]; }                   substitute k i
    for (i...) a[i] = a[m - i] + b[i];                 split i m/2+1, node-split a i

The stages below go from those that change least to those that change most; each is asked of the
loops that are still in order, and what is legal of it is done. Steps that the result does not need
are left out again. (Allen and Kennedy, "Optimizing Compilers for Modern Architectures", chapter 5.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TypeAlias

from loopxform.analysis.deps import carried_among
from loopxform.analysis.induction import induction
from loopxform.analysis.region import region
from loopxform.analysis.scope import below
from loopxform.analysis.spelling import spelled
from loopxform.analysis.verdict import ENOUGH, LoopVerdict, judge
from loopxform.api.prepared_loops import reference
from loopxform.api.restated import restated
from loopxform.budget import Exhausted, part, within
from loopxform.ir.affine import constant, poly, simplify, to_expr
from loopxform.ir.nodes import Bin, Const, Expr, For, Function, Load, Opaque, Var, While
from loopxform.ir.printer import expr_text
from loopxform.ir.visit import Path, at, declared, loads, loops, names, stmt_exprs, walk, writes
from loopxform.source import Loc
from loopxform.transforms import (
    Derivation,
    Distribute,
    DistributeBranches,
    Expand,
    NodeSplit,
    Split,
    Step,
    Substitute,
)
from loopxform.transforms.restructure.distribute import REORDERED

SHARE = 1 / 8
"""Of the time that is left."""

MOST_STATEMENTS = 40
"""Those of a loop that is prepared."""

MOST_STEPS = 8
"""Of a stage."""


def with_preparing_steps(
    verdicts: Sequence[LoopVerdict], fn: Function, several: frozenset[Loc] = frozenset()
) -> tuple[LoopVerdict, ...]:
    """The verdicts, with the steps that make loops parallel which dependences alone keep in order,
    those inside parallel ones aside. `several` are places of more than one loop, of which nothing
    can be told."""
    found: dict[Path, LoopVerdict] = {}
    free = [v.path for v in verdicts if v.parallel in ENOUGH["reduction"]]
    with suppress(Exhausted), within(part(SHARE)):
        for v in verdicts:
            inside = any(v.path[: len(path)] == path for path in free)
            if not inside and v.loc not in several and _is_in_order(fn, v):
                found[v.path] = _prepared(fn, v, preparing_steps(fn, v.path))
    return tuple(found.get(v.path, v) for v in verdicts)


def preparing_steps(fn: Function, path: Path) -> tuple[Step, ...]:
    """Steps after which all that the loop at `path` becomes is parallel, or has a name; () where
    none are known."""
    loc = at(fn, path).origin.loc
    assert loc is not None
    done, left = Derivation(fn), _in_order(fn, loc)
    for stage in STAGES:
        for _ in range(MOST_STEPS):
            further = _further(done, left, stage)
            if further is None:
                break
            done, left = further, _in_order(further.function, loc)
            if not left:
                return _needed(fn, loc, tuple(r.step for r in done.records))
    return ()


def _prepared(fn: Function, v: LoopVerdict, steps: Sequence[Step]) -> LoopVerdict:
    """The verdict with the steps, and what holds of all that the loop becomes."""
    if not steps:
        return v
    assert v.loc is not None
    parts = _judged(Derivation(fn).run(tuple(steps)).function, v.loc)
    asked = spelled(tuple(a for x in parts for a in x.assumes), fn)
    assumes = tuple(dict.fromkeys((*v.assumes, *asked)))
    return replace(v, after=tuple(map(str, steps)), assumes=assumes)


def _further(done: Derivation, left: Sequence[LoopVerdict], stage: Stage) -> Derivation | None:
    """With the first of the steps of a stage that are legal."""
    for v in left:
        for steps in stage(done.function, v, reference(done.function, v.path)):
            after, refusal = done.optional(*steps)
            if refusal is None:
                return after
    return None


def _is_in_order(fn: Function, v: LoopVerdict) -> bool:
    if v.loc is None or v.parallel in ENOUGH["reduction"] or v.idioms or not v.left:
        return False
    loop = at(fn, v.path)
    if not isinstance(loop, For):
        return False
    inside = [s for _, s in below(loop, v.path)]
    return len(inside) <= MOST_STATEMENTS and not any(isinstance(s, Opaque | While) for s in inside)


def _in_order(fn: Function, loc: Loc) -> list[LoopVerdict]:
    """The loops at a place that are not parallel, and have no name either."""
    every = _judged(fn, loc)
    return [v for v in every if v.parallel not in ENOUGH["reduction"] and not v.idioms]


def _judged(fn: Function, loc: Loc) -> Sequence[LoopVerdict]:
    found = [v for v in judge(fn, only=frozenset([loc])) if v.loc == loc]
    return restated(found, fn, ()) if any(v.parallel == "unknown" for v in found) else found


def _needed(fn: Function, loc: Loc, steps: tuple[Step, ...]) -> tuple[Step, ...]:
    """The steps, without those that the loops are as parallel without."""
    for step in reversed(steps) if len(steps) > 1 else ():
        fewer = tuple(s for s in steps if s is not step)
        after, refusal = Derivation(fn).optional(*fewer)
        if fewer and refusal is None and not _in_order(after.function, loc):
            steps = fewer
    return steps


# ---------------------------------------------------------------- stages

Stage: TypeAlias = Callable[[Function, LoopVerdict, str], Iterator[tuple[Step, ...]]]
"""Steps to try for a loop in order, which is called by a name; all of each tuple, or none."""


def _closed_forms(fn: Function, v: LoopVerdict, _: str) -> Iterator[tuple[Step, ...]]:
    """Scalars that grow by as much in each iteration, from the loops inside outwards."""
    inside = [s.path for s in loops(fn) if s.path[: len(v.path)] == v.path]
    for name in v.left:
        for path in reversed(inside):
            if isinstance(at(fn, path), For) and induction(fn, path, name) is not None:
                yield (Substitute(name, reference(fn, path)),)


def _old_values(fn: Function, v: LoopVerdict, loop: str) -> Iterator[tuple[Step, ...]]:
    """Elements that a later iteration overwrites."""
    own = declared(fn.body)
    rows = carried_among(region(fn, v.path, counters=True), lambda name, _: name not in own)
    for name in sorted({d.array for d in rows if d.carrier == v.path and d.kind == "anti"}):
        yield (NodeSplit(name, loop),)


def _statements_apart(_: Function, __: LoopVerdict, loop: str) -> Iterator[tuple[Step, ...]]:
    yield (Distribute((loop,), reordered=REORDERED),)


def _branches_apart(_: Function, __: LoopVerdict, loop: str) -> Iterator[tuple[Step, ...]]:
    yield (DistributeBranches(loop),)


def _expanded(fn: Function, v: LoopVerdict, loop: str) -> Iterator[tuple[Step, ...]]:
    """Statements that scalars of an iteration hold together."""
    own = declared(fn.body)
    scalars = [n for n in sorted(writes(_loop(fn, v).body)) if n in own and not own[n].shape]
    each = tuple(step for n in scalars if not (step := Expand(n, (loop,))).check(fn))
    if each:
        yield (*each, Distribute((loop,), reordered=REORDERED))


def _own_arrays(_: Function, v: LoopVerdict, loop: str) -> Iterator[tuple[Step, ...]]:
    """Arrays of which each iteration writes the same elements, before it reads them."""
    for name in v.left:
        yield (Expand(name, (loop,)),)


def _crossings(fn: Function, v: LoopVerdict, loop: str) -> Iterator[tuple[Step, ...]]:
    """Where the element that is stored and one that is read change sides."""
    if sum(s.loop.origin.loc == v.loc for s in loops(fn)) == 1:
        points = dict.fromkeys(p for array in v.left for p in _points(_loop(fn, v), array))
        yield from ((Split(loop, point),) for point in points)


STAGES: tuple[Stage, ...] = (
    _closed_forms,
    _old_values,
    _statements_apart,
    _branches_apart,
    _expanded,
    _own_arrays,
    _crossings,
    _old_values,
)


def _loop(fn: Function, v: LoopVerdict) -> For:
    loop = at(fn, v.path)
    assert isinstance(loop, For)
    return loop


def _points(loop: For, array: str) -> Iterator[str]:
    """Behind which iteration an element that a loop stores is another one's that it reads: i for
    which the subscripts are equal, where one dimension says so."""
    every = [x for _, s in walk(loop.body) for e in stmt_exprs(s) for x in loads(e)]
    stored = [x for _, s in walk(loop.body) if isinstance(x := getattr(s, "target", None), Load)]
    fixed = writes((loop,)) | {s.var for _, s in walk((loop,)) if isinstance(s, For)}
    for x in stored:
        for y in every:
            if x.array == y.array == array and x.index != y.index:
                for a, b in zip(x.index, y.index):
                    point = _crossing(loop, a, b)
                    if point is not None and not names(point) & fixed:
                        yield expr_text(point).replace(" ", "")


def _crossing(loop: For, a: Expr, b: Expr) -> Expr | None:
    """The first value of the counter behind the one for which `a` is `b`."""
    gap = poly(a) - poly(b)
    times, rest = gap.coefficient(loop.var).constant, gap.without(loop.var)
    if not times or rest + constant(times) * poly(Var(loop.var)) != gap:
        return None
    ahead = to_expr(rest if times < 0 else -rest)
    return simplify(Bin("+", Bin("/", ahead, Const(abs(times))), Const(1)))
