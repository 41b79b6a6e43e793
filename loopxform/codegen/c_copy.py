"""Copies of array slices as C loops."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from loopxform.codegen import cexpr
from loopxform.codegen.cexpr import Dialect
from loopxform.ir.nodes import Assign, Bin, Const, Copy, Expr, Load, Select, Var
from loopxform.ir.types import INT


def copy_lines(s: Copy, d: Dialect, fresh: Callable[[str], str]) -> list[str]:
    """A loop for each dimension of the target; elements beyond a limit are padding, or skipped
    where there is none, or the last valid one is copied where the slice is clamped. `fresh` makes
    unused names."""
    sized = [n for n, x in enumerate(s.slices) if x.size is not None]
    counters = {n: fresh(f"c{k}") for k, n in enumerate(sized)}
    d = replace(d, types={**d.types, **dict.fromkeys(counters.values(), INT)})
    index, guard = _source(s, counters)
    out: list[str] = []
    for n in sized:
        size, c = s.slices[n].size, counters[n]
        assert size is not None
        test = cexpr.expr(Bin("<", Var(c), size), d)
        out.append(f"{'  ' * len(out)}for (int {c} = 0; {test}; {c}++)")
    target = Load(s.target, tuple(Var(counters[n]) for n in sized))
    value: Expr = Load(s.source, index)
    if guard is not None and s.pad is not None:
        value = Select(guard, value, s.pad)
    elif guard is not None:
        out.append(f"{'  ' * len(out)}if ({cexpr.expr(guard, d)})")
    move = Assign(target, value)
    return [*out, f"{'  ' * len(out)}{cexpr.assign(move, d)};"]


def _source(s: Copy, counters: dict[int, str]) -> tuple[tuple[Expr, ...], Expr | None]:
    """The subscripts of the source, and the condition under which the element exists."""
    index: list[Expr] = []
    guard: Expr | None = None
    for n, x in enumerate(s.slices):
        at = Bin("+", x.lo, Var(counters[n])) if n in counters else x.lo
        if x.limit is not None and x.clamp:
            at = Bin("min", at, Bin("-", x.limit, Const(1)))
        elif x.limit is not None:
            test = Bin("<", at, x.limit)
            guard = test if guard is None else Bin("&&", guard, test)
        index.append(at)
    return tuple(index), guard
