"""Which loops in the body of a nest the work-items of a group may share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from loopxform.analysis.verdict import LoopVerdict, judge
from loopxform.ir.nodes import For, If, Stmt
from loopxform.ir.visit import bodies, names
from loopxform.prepare.parallel_band import Nest
from loopxform.prepare.perfect_nest import has_few_iterations
from loopxform.targets.target import Limits
from loopxform.transforms.edges.bounds import fixed_trips

PARALLEL = ("yes", "privatizable")


def verdicts_inside(nest: Nest) -> dict[str, LoopVerdict]:
    """The verdict on each loop in the body of a nest, by its variable."""
    path = (*nest.path, *[0] * len(nest.parallel))[:-1]
    judged = judge(nest.function, inlined=True, at=path)
    return {v.var: v for v in judged if v.path[: len(path)] == path}


def shared_loops(
    body: Iterable[Stmt], verdicts: dict[str, LoopVerdict]
) -> Iterator[tuple[str, ...]]:
    """The loops of a body that the work-items of a group may share, alone or in pairs."""
    for s in body:
        if isinstance(s, For) and is_shared(s, verdicts):
            inner = perfect_pair(s, verdicts)
            yield (s.var,) if inner is None else (s.var, inner.var)
        elif isinstance(s, For | If):
            yield from (x for part in bodies(s) for x in shared_loops(part, verdicts))


def is_shared(s: For, verdicts: dict[str, LoopVerdict]) -> bool:
    """Whether a loop has iterations for several work-items."""
    v = verdicts.get(s.var)
    return v is not None and v.parallel in (*PARALLEL, "reduction") and not has_few_iterations(s)


def perfect_pair(s: For, verdicts: dict[str, LoopVerdict]) -> For | None:
    """The parallel loop that a parallel loop holds, and nothing else."""
    inner = s.body[0] if len(s.body) == 1 else None
    if not isinstance(inner, For) or s.var in names(inner.lo) | names(inner.hi):
        return None
    both = all(is_shared(x, verdicts) and verdicts[x.var].parallel in PARALLEL for x in (s, inner))
    return inner if both else None


def is_short(s: For, limits: Limits) -> bool:
    """Whether a work-item runs a loop sooner than a group has shared it out."""
    fixed = fixed_trips(s)
    most = limits.costs.short_loop
    return fixed is not None and (fixed[0].value or most + 1) <= most
