"""A loop that runs without the rare cases of quotients and roots (the step `speculate`): what it
computes beforehand, and what is set back where it runs again.

    { const float s_before = s;  const float x_inverse = 1 / x;
      for (j) s += quick y[j] * x_inverse;  if (rare) { s = s_before; for (j) s += y[j] / x; } }
"""

from __future__ import annotations

from collections.abc import Iterator

from loopxform.codegen.opencl.cooperative_copy import OwnNames
from loopxform.codegen.opencl.dialect import KernelDialect
from loopxform.codegen.opencl.magnitudes import Magnitudes
from loopxform.codegen.opencl.quick_quotients import Quick, Reciprocal
from loopxform.codegen.opencl.words import free_name
from loopxform.ir.nodes import Bin, Const, Expr, For, Var
from loopxform.ir.types import FLOAT
from loopxform.ir.visit import declared, reads, stmt_exprs, walk, walk_expr, writes
from loopxform.transforms.latency.speculate import set_back


def without_rare_cases(
    s: For, d: KernelDialect, own: OwnNames
) -> tuple[Quick, dict[str, tuple[str, str]]]:
    """How its quotients and roots are written, and by name what is set back: its type, and what it
    is called as it was before."""
    taken = frozenset(map(d.name, d.types))
    known = Magnitudes(s, d.types)
    reciprocals: dict[Expr, Reciprocal] = {
        y: Reciprocal(free_name(f"{d.name(y.name)}_inverse", taken), d.name(y.name))
        for y in _divisors(s, d)
    }
    back = {
        d.name(n): (d.type_name(d.types[n]), free_name(f"{d.name(n)}_before", taken))
        for n in sorted(set_back(s))
    }
    return Quick(own.usual, own.odd, known.roots, known.divisors, reciprocals), back


def is_once(s: For) -> bool:
    """Whether it is one iteration, whose number nothing reads."""
    return (s.lo, s.hi) == (Const(0), Const(1)) and s.var not in reads(s.body) and not s.live_out


def _divisors(s: For, d: KernelDialect) -> Iterator[Var]:
    """Variables that quotients of floats have for divisors, and the loop leaves as they are."""
    own = writes(s.body) | declared(s.body).keys()
    for e in (e for _, x in walk((s,)) for y in stmt_exprs(x) for e in walk_expr(y)):
        match e:
            case Bin("/", left, Var(name) as y) if name not in own:
                if d.type_of(left) == d.type_of(y) == FLOAT:
                    yield y
