"""What is taken for granted of numbers where updates by threads count as those of the loop.

max, min   OpenMP combines by comparison, which no NaN is part of, also where the loop calls fmax
&&, ||     the result is 0 or 1, though a loop without iterations leaves what was there
"""

from __future__ import annotations

from collections.abc import Iterator

from loopxform.analysis.context import always
from loopxform.analysis.domain import names_of
from loopxform.analysis.liveness import runs
from loopxform.analysis.openmp.construct import Construct
from loopxform.analysis.reductions import Reduction, reductions
from loopxform.ir.nodes import Assign, Bin, Const, Opaque, Stmt, Var
from loopxform.ir.types import BOOL
from loopxform.ir.visit import Path, at, walk


def conditions(c: Construct) -> tuple[str, ...]:
    """The conditions on the objects that the loop updates."""
    around = (c.directive, *c.around)
    reduced = frozenset(v for d in around for v in d.variables("reduction"))
    locked = c.directive.clause("ordered") is None
    found: list[str] = []
    for r in reductions(c.fn, c.path):
        if r.array in reduced:
            found += _of_clause(c, r)
        elif locked and r.array not in c.private:
            found += r.assumes
    return tuple(dict.fromkeys(found))


def _of_clause(c: Construct, r: Reduction) -> Iterator[str]:
    type = names_of(c.fn).types.get(r.array)
    yield from r.assumes
    if r.op in ("min", "max") and not r.assumes and (type is None or type.is_float):
        yield f"{r.var} is not NaN before the loop"
    if r.op in ("&&", "||") and type is not BOOL and not _is_truth(c, r):
        yield f"{r.var} is 0 or 1 before the loop"


def _is_truth(c: Construct, r: Reduction) -> bool:
    """Whether the loop leaves 0 or 1 whatever was there, or 0 or 1 was there."""
    direct = any(len(p) == len(c.path) + 1 for p in r.paths)
    scalar = r.var == r.array
    if scalar and direct and runs(c.fn, c.loop, c.path):
        return True
    low, high = (Bin("<=", *x) for x in ((Const(0), Var(r.array)), (Var(r.array), Const(1))))
    known = scalar and always(c.fn, c.path, low) and always(c.fn, c.path, high)
    return known or (scalar and _is_set_before(c, r.array))


def _is_set_before(c: Construct, name: str) -> bool:
    """Whether a statement in front of the loop, in its block, sets the variable to 0 or 1, and
    nothing else in the function sets it but the loop."""
    mine = [(p, s) for p, s in walk(c.fn.body) if _sets(s, name) and p[: len(c.path)] != c.path]
    return len(mine) == 1 and _is_in_front(c, *mine[0])


def _sets(s: Stmt, name: str) -> bool:
    return isinstance(s, Assign) and isinstance(s.target, Var) and s.target.name == name


def _is_in_front(c: Construct, path: Path, s: Stmt) -> bool:
    if path[:-1] != c.path[:-1] or not 0 <= path[-1] < c.path[-1]:
        return False
    between = (at(c.fn, (*path[:-1], n)) for n in range(path[-1], c.path[-1]))
    known = not any(isinstance(x, Opaque) for _, x in walk(tuple(between)))
    return known and isinstance(s, Assign) and not s.op and s.value in (Const(0), Const(1))
