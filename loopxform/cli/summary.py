"""What `tile` tells on the terminal: verdicts, launch, memory, and table 3 for this nest."""

from __future__ import annotations

from collections.abc import Iterator

from loopxform.analysis.verdict import judge
from loopxform.codegen import describe, traffic
from loopxform.codegen.plan import KernelPlan
from loopxform.ir.nodes import For, Function
from loopxform.ir.visit import declared, walk
from loopxform.tiled import TiledRoutine


def lines(done: TiledRoutine, plan: KernelPlan | None) -> Iterator[str]:
    """The summary, a line each."""
    yield headline(done)
    for v in judge(done.routine.function):
        private = f", private {', '.join(v.private)}" if v.private else ""
        reduction = "".join(f" of {r.var} ({r.op})" for r in v.reductions)
        line = f"line {v.loc.line}" if v.loc else ""
        yield f"  loop {v.var:<8} {line:<8} {v.parallel}{reduction}{private}"
    if plan is not None:
        yield from _launch(plan)
    yield from _traffic(done)


def headline(done: TiledRoutine) -> str:
    """The function, its variant and tile sizes, and why the variant is not the one wanted."""
    tiled = done.tiled
    sizes = ", ".join(f"{n}={v}" for n, v in done.sizes.named(tiled.variant).items())
    kind = "one work-item per iteration" if tiled.variant == "naive" else f"{tiled.variant} tiling"
    note = f"\n  note: {tiled.reason}" if tiled.reason else ""
    return f"{done.routine.name}: {kind}, {sizes}{note}"


def _launch(plan: KernelPlan) -> Iterator[str]:
    shapes = {name: d.shape for name, d in declared(plan.function.body).items()}
    yield f"  grid          {describe.grid(plan.mapping)}"
    yield f"  group         {describe.group(plan.mapping)}"
    yield f"  local memory  {describe.local_memory(plan.mapping)}"
    yield f"  private       {describe.private_arrays(plan.mapping, shapes)}"


def prepared(done: TiledRoutine) -> Function:
    """The program after its loops were found parallel: what a naive kernel executes."""
    out = done.tiled.derivation.start
    for r in done.tiled.derivation.records:
        if not r.stage.startswith("Listing 2"):
            break
        out = r.result
    return out


def _traffic(done: TiledRoutine) -> Iterator[str]:
    base = prepared(done)
    plain = traffic.naive(base)
    rows = _row_loop(base)
    tiled = plain
    if done.tiled.variant != "naive":
        register = done.tiled.variant == "register"
        tiled = traffic.tiled(base, done.tiled.function, rows, register=register)
    yield "  accesses               naive -> tiled, where the tile sizes divide the loops"
    for (name, before), (_, after) in zip(plain.rows(), tiled.rows()):
        yield f"    {name:<21}{traffic.text(before)} -> {traffic.text(after)}"


def _row_loop(fn: Function) -> str:
    """The outer one of the two innermost parallel loops."""
    parallel = [s.var for _, s in walk(fn.body) if isinstance(s, For) and s.parallel]
    return parallel[-2] if len(parallel) > 1 else parallel[-1]
