"""What `tile` tells on the terminal: verdicts, launch, memory, and table 3 for this nest."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from loopxform.analysis.verdict import judge
from loopxform.codegen import describe
from loopxform.codegen.plan import Plan
from loopxform.ir.nodes import Decl, For, Function, Param
from loopxform.ir.visit import declared
from loopxform.recipes import traffic
from loopxform.recipes.tile import Tiled
from loopxform.tiled import TiledRoutine


def lines(done: TiledRoutine, plan: Plan | None) -> Iterator[str]:
    """The summary, a line each."""
    yield headline(done)
    for v in judge(done.routine.function):
        private = f", private {', '.join(v.private)}" if v.private else ""
        reduction = "".join(f" of {r.var} ({r.op})" for r in v.reductions)
        line = f"line {v.loc.line}" if v.loc else ""
        yield f"  loop {v.var:<8} {line:<8} {v.parallel}{reduction}{private}"
    if plan is not None:
        yield from _launches(plan)
    yield from _traffic(done)


KINDS = {
    "register": "register tiling",
    "block": "block tiling",
    "one-sided": "one-sided tiling",
    "1-d": "tiling along one loop",
    "stencil": "tiling with halos",
    "naive": "one work-item per iteration",
}


def headline(done: TiledRoutine) -> str:
    """The function, its recipe and tile sizes, and why the recipe is not another; where it became
    several nests, a line for each."""
    parts = (done.tiled, *done.tiled.rest)
    if not done.tiled.rest:
        return f"{done.routine.name}: {_recipe(done.tiled)}"
    lines = [f"  kernel {n} {_recipe(part)}" for n, part in enumerate(parts, 1)]
    return "\n".join([f"{done.routine.name}: {len(parts)} nests", *lines])


def _recipe(part: Tiled) -> str:
    sizes = ", ".join(f"{n}={v}" for n, v in part.sizes.items())
    return f"{KINDS[part.recipe]}, {sizes}" + (f"\n  note: {part.reason}" if part.reason else "")


def _launches(plan: Plan) -> Iterator[str]:
    if plan.temporaries:
        yield f"  temporary     {describe.arrays(plan.temporaries)}"
    for k in plan.kernels:
        if len(plan.kernels) > 1:
            yield f"  kernel        {k.name}"
        shapes = {name: d.shape for name, d in declared(k.function.body).items()}
        yield f"  grid          {describe.grid(k.mapping)}"
        yield f"  group         {describe.group(k.mapping)}"
        yield f"  local memory  {describe.local_memory(k.mapping)}"
        yield f"  private       {describe.private_arrays(k.mapping, shapes)}"


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
    rows: dict[str, tuple[list[traffic.Term], list[traffic.Term]]] = {}
    for part in (done.tiled, *done.tiled.rest):
        own = _only(base, part.nest.parallel[0]) if done.tiled.rest else base
        plain = traffic.naive(own)
        tiled = traffic.tiled(own, part.choice, part.staged, part.kept)
        for (name, before), (_, after) in zip(plain.rows(), tiled.rows()):
            found = rows.setdefault(name, ([], []))
            found[0].extend(before)
            found[1].extend(after)
    yield "  accesses               naive -> tiled, where the tile sizes divide the loops"
    for name, terms in rows.items():
        yield f"    {name:<21}{' -> '.join(traffic.text(tuple(t)) for t in terms)}"


def _only(fn: Function, outermost: str) -> Function:
    """One of several nests, with the arrays between them among its objects."""
    arrays = [s for s in fn.body if isinstance(s, Decl) and s.shape]
    params = tuple(Param(s.name, s.type, s.shape, array=True) for s in arrays)
    body = tuple(s for s in fn.body if isinstance(s, For) and s.var == outermost)
    return replace(fn, params=(*fn.params, *params), body=body)
