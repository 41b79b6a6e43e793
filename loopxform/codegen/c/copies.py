"""Copies of array slices as C loops."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from loopxform.codegen import cexpr
from loopxform.codegen.cexpr import Dialect
from loopxform.ir.nodes import Assign, Bin, Const, Copy, Expr, Load, Select, Var
from loopxform.ir.types import INT


def copy_lines(
    s: Copy, d: Dialect, fresh: Callable[[str], str], order: Sequence[int] = ()
) -> list[str]:
    """A loop for each dimension of the target; elements beyond a limit are padding, or skipped
    where there is none, or the last valid one is copied where the slice is clamped: then the
    innermost loop is in two parts. `order` says which dimension of the copy each one of the target
    is, `fresh` makes unused names."""
    sized = [n for n, x in enumerate(s.slices) if x.size is not None]
    counters = {n: fresh(f"c{k}") for k, n in enumerate(sized)}
    d = replace(d, types={**d.types, **dict.fromkeys(counters.values(), INT)})
    target = Load(s.target, tuple(Var(counters[sized[k]]) for k in order or range(len(sized))))
    cut = bool(sized) and s.slices[sized[-1]].limit is not None and s.slices[sized[-1]].clamp
    out: list[str] = []
    for n in sized[:-1] if cut else sized:
        size = s.slices[n].size
        assert size is not None
        out.append(f"{'  ' * len(out)}{_for(counters[n], Const(0), size, d)}")
    if not cut:
        return [*out, *("  " * len(out) + line for line in _move(s, target, counters, d))]
    pad = "  " * len(out)
    inner = [pad + line for line in _in_two(s, target, counters, d)]
    if not out:
        return inner
    return [*out[:-1], f"{out[-1]} {{", *inner, f"{pad[2:]}}}"]


def _for(counter: str, start: Expr, end: Expr, d: Dialect) -> str:
    test = cexpr.expr(Bin("<", Var(counter), end), d)
    return f"for (int {counter} = {cexpr.expr(start, d)}; {test}; {counter}++)"


def _in_two(s: Copy, target: Load, counters: dict[int, str], d: Dialect) -> list[str]:
    """The innermost loop: up to its limit without a test in it, and beyond."""
    last = max(counters)
    x, c = s.slices[last], counters[last]
    assert x.size is not None
    assert x.limit is not None
    room = Bin("min", x.size, Bin("-", x.limit, x.lo))
    valid = cexpr.expr(Select(Bin("<", x.lo, x.limit), room, Const(0)), d)
    end = replace(x, lo=Bin("-", x.limit, Const(1)), size=None, limit=None, floor=None)
    before, after = s.slices[:last], s.slices[last + 1 :]
    within = replace(s, slices=(*before, replace(x, limit=None), *after))
    beyond = replace(s, slices=(*before, end, *after))
    outer = {n: v for n, v in counters.items() if n != last}
    return [
        f"for (int {c} = 0, {c}_end = {valid}; {c} < {c}_end; {c}++)",
        *(f"  {line}" for line in _move(within, target, counters, d)),
        f"for (int {c} = {valid}; {cexpr.expr(Bin('<', Var(c), x.size), d)}; {c}++)",
        *(f"  {line}" for line in _move(beyond, target, outer, d)),
    ]


def _move(s: Copy, target: Load, counters: dict[int, str], d: Dialect) -> list[str]:
    """One element."""
    index, guard = _source(s, counters)
    value: Expr = Load(s.source, index)
    if guard is not None and s.pad is not None:
        value = Select(guard, value, s.pad)
    move = f"{cexpr.assign(Assign(target, value), d)};"
    if guard is None or s.pad is not None:
        return [move]
    return [f"if ({cexpr.expr(guard, d)})", f"  {move}"]


def _source(s: Copy, counters: dict[int, str]) -> tuple[tuple[Expr, ...], Expr | None]:
    """The subscripts of the source, and the condition under which the element exists."""
    index: list[Expr] = []
    guard: Expr | None = None
    for n, x in enumerate(s.slices):
        at = Bin("+", x.lo, Var(counters[n])) if n in counters else x.lo
        if x.floor is not None:
            at = Bin("max", at, x.floor)
        if x.limit is not None and x.clamp:
            at = Bin("min", at, Bin("-", x.limit, Const(1)))
        elif x.limit is not None:
            test = Bin("<", at, x.limit)
            guard = test if guard is None else Bin("&&", guard, test)
        index.append(at)
    return tuple(index), guard
