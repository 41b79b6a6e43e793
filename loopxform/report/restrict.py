"""What `restrict` would gain: verdicts that assume nothing of the parameters that have it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Set
from dataclasses import replace

from loopxform.analysis.assumptions import assumed
from loopxform.analysis.verdict import LoopVerdict
from loopxform.api.check import CheckedFunction
from loopxform.ir.nodes import Param
from loopxform.ir.visit import at
from loopxform.report.facts import Gain

APART = re.compile(r"(\S+) and (\S+) do not overlap")


def restrictable(f: CheckedFunction) -> tuple[str, ...]:
    """The parameters that verdicts assume to be apart, and that may be `restrict`."""
    names = {n for v in f.loops for a in v.assumes for n in _apart(a)}
    return tuple(p.name for p in f.routine.function.params if _can_be_restricted(p, names))


def of_restrict(f: CheckedFunction) -> Iterator[Gain]:
    """The parameters that verdicts assume to be apart, and what is still assumed once they are
    `restrict`."""
    fn = f.routine.function
    waiting = [v for v in f.loops if any(APART.fullmatch(a) for a in v.assumes)]
    open_ = restrictable(f)
    if not open_:
        return
    then = replace(
        fn, params=tuple(replace(p, restrict=True) if p.name in open_ else p for p in fn.params)
    )
    left = {v.path: [*filter(APART.fullmatch, assumed(then, at(then, v.path)))] for v in waiting}
    free = [v for v in waiting if not left[v.path]]
    changed = [v for v in waiting if len(left[v.path]) < len(v.assumes)]
    if not changed:
        return
    brings = f"{_loops(len(free))} would be {_verdicts(free)} whatever overlaps; " if free else ""
    brings += "the written C need not compare these addresses at each call. Write it only where it "
    brings += "is true of every caller: float *restrict a, or float a[restrict n]."
    lines = tuple(dict.fromkeys(v.line for v in changed if v.line))
    yield Gain(f"restrict on {', '.join(open_)}", brings, lines)


def _apart(assumption: str) -> tuple[str, ...]:
    m = APART.fullmatch(assumption)
    return m.groups() if m else ()


def _can_be_restricted(p: Param, names: Set[str]) -> bool:
    """Whether it is a parameter of those that does not have it."""
    return p.name in names and p.array and not (p.restrict or p.is_global or p.is_member)


def _verdicts(loops: list[LoopVerdict]) -> str:
    return " or ".join(dict.fromkeys(f"'{v.parallel}'" for v in loops))


def _loops(count: int) -> str:
    return f"{count} loop{'s' if count != 1 else ''}"
