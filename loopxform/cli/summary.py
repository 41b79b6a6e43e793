"""What `tile` tells on the terminal: verdicts, launch, memory, and table 3 for this nest."""

from __future__ import annotations

from collections.abc import Iterator

from loopxform.analysis.verdict import judge
from loopxform.cli.tiling import Request
from loopxform.codegen import traffic
from loopxform.codegen.plan import KernelPlan
from loopxform.ir.affine import value_of
from loopxform.ir.nodes import Function
from loopxform.ir.printer import expr_text


def lines(request: Request, plan: KernelPlan | None) -> Iterator[str]:
    """The summary, a line each."""
    fn, tiled = request.function, request.tiled
    yield f"{fn.name}: {tiled.variant} tiling"
    if tiled.reason:
        yield f"  note: {tiled.reason}"
    for v in judge(fn):
        private = f", private {', '.join(v.private)}" if v.private else ""
        reduction = "".join(f" of {r.var} ({r.op})" for r in v.reductions)
        line = f"line {v.loc.line}: " if v.loc else ""
        yield f"  loop {v.var:<8} {line}{v.parallel}{reduction}{private}"
    if plan is not None:
        yield from _launch(plan)
    yield from _traffic(request)


def _launch(plan: KernelPlan) -> Iterator[str]:
    counts = ["1" if g is None else expr_text(g.count) for g in reversed(plan.grid)]
    shape = [expr_text(e) for e in reversed(plan.mapping.group_shape)]
    sizes = ", ".join(f"{n}={v}" for n, v in plan.function.tiles)
    yield f"  tile sizes    {sizes}"
    yield f"  grid          {' x '.join(counts)} groups"
    total = " x ".join(str(n) for n in reversed(plan.group_shape))
    yield f"  group         {' x '.join(shape)} = {total} work-items"
    tiles = ", ".join(
        f"{t.decl.name}[{', '.join(expr_text(e) for e in t.shape)}]" for t in plan.mapping.tiles
    )
    yield f"  local memory  {plan.local_bytes} bytes{': ' if tiles else ''}{tiles}"
    yield f"  private       {_private(plan)}"


def _private(plan: KernelPlan) -> str:
    """Elements each work-item keeps in arrays of its own."""
    from loopxform.ir.visit import declared

    parts, total = [], 0
    for name, decl in declared(plan.function.body).items():
        kept = plan.mapping.kept.get(name)
        if kept:
            count = 1
            for n in kept:
                count *= value_of(decl.shape[n]) or 1
            total += count
            parts.append(f"{name}[{', '.join(expr_text(decl.shape[n]) for n in kept)}]")
    return f"{total} elements{': ' if parts else ''}{', '.join(parts)}"


def prepared(request: Request) -> Function:
    """The program after its loops were found parallel: what a naive kernel executes."""
    out = request.tiled.derivation.start
    for r in request.tiled.derivation.records:
        if not r.stage.startswith("Listing 2"):
            break
        out = r.result
    return out


def _traffic(request: Request) -> Iterator[str]:
    base = prepared(request)
    plain = traffic.naive(base)
    rows = _row_loop(base)
    tiled = plain
    if request.tiled.variant != "naive":
        register = request.tiled.variant == "register"
        tiled = traffic.tiled(base, request.tiled.function, rows, register=register)
    yield "  accesses              naive -> tiled (where the tile sizes divide)"
    for (name, before), (_, after) in zip(plain.rows(), tiled.rows()):
        yield f"    {name:<20} {traffic.text(before)} -> {traffic.text(after)}"


def _row_loop(fn: Function) -> str:
    """The outer one of the two innermost parallel loops."""
    from loopxform.ir.nodes import For
    from loopxform.ir.visit import walk

    parallel = [s.var for _, s in walk(fn.body) if isinstance(s, For) and s.parallel]
    return parallel[-2] if len(parallel) > 1 else parallel[-1]
