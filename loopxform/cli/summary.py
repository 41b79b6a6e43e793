"""What `tile` tells on the terminal: verdicts, launch, memory, and table 3 for this nest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from loopxform.api.tile import TiledRoutine
from loopxform.api.verdicts import judged
from loopxform.cli import permission_text, transactions_text
from loopxform.codegen.host.temporaries import NEVER
from loopxform.codegen.opencl import describe
from loopxform.codegen.opencl.kernel_plan import KernelPlan
from loopxform.codegen.plan import Plan
from loopxform.ir.visit import declared
from loopxform.model import access_counts
from loopxform.quotation import Paint, plain
from loopxform.recipes.tiled import Tiled
from loopxform.transforms import Derivation, SplitFloats
from loopxform.transforms.mapping.dispatch import steps
from loopxform.transforms.storage.operands import TURNED


def lines(
    done: TiledRoutine, plan: Plan | None, unused: Sequence[str] = (), paint: Paint = plain
) -> Iterator[str]:
    """The summary, a line each."""
    yield headline(done, unused)
    for v in judged(done.routine.function):
        private = f", private {', '.join(v.private)}" if v.private else ""
        reduction = "".join(f" of {r.var} ({r.op})" for r in v.reductions)
        line = f"line {v.loc.line}" if v.loc else ""
        yield f"  loop {v.var:<8} {line:<8} {paint(v.parallel, v.parallel)}{reduction}{private}"
    if plan is not None:
        if gain := permission_text.faster(done, [done.tiled, *done.tiled.rest]):
            yield f"  --fp fast     {gain}"
        yield from _launches(plan, done.derivation)
    yield from _traffic(done)
    yield from transactions_text.lines(done)


def headline(done: TiledRoutine, unused: Sequence[str] = ()) -> str:
    """The function, its recipe and tile sizes, and why the recipe is not another; where it became
    several nests, a line for each; sizes that were given in vain."""
    vain = "".join(f"\n  note: no use for --{name}" for name in unused)
    return _headline(done) + vain


def _headline(done: TiledRoutine) -> str:
    parts = (done.tiled, *done.tiled.rest)
    if not done.tiled.rest:
        return f"{done.routine.name}: {_recipe(done.tiled)}"
    lines = [f"  kernel {n} {_recipe(part)}" for n, part in enumerate(parts, 1)]
    return "\n".join([f"{done.routine.name}: {len(parts)} nests", *lines])


def _recipe(part: Tiled) -> str:
    sizes = ", ".join(f"{n}={v}" for n, v in part.sizes.items())
    notes = [part.reason] if part.reason else []
    notes += [_copied(array, target) for array, target in part.copied]
    return f"{part.choice.title}, {sizes}" + "".join(f"\n  note: {note}" for note in notes)


def _copied(array: str, target: str) -> str:
    return f"{array} is read from {target}, a copy in another layout (--relayout none: not so)"


MANY = 4
"""Kernels that are launched alike are a row of a table where there are so many others."""


def _launches(plan: Plan, derivation: Derivation) -> Iterator[str]:
    if kept := [b for b in plan.temporaries if b.when != NEVER]:
        yield f"  temporary     {describe.arrays(kept)}"
    alike: dict[tuple[str, ...], list[KernelPlan]] = {}
    for k in plan.kernels:
        alike.setdefault(tuple(_launch(k)), []).append(k)
    if len(alike) >= MANY:
        yield from _table(list(alike.values()))
    for lines, kernels in alike.items() if len(alike) < MANY else ():
        if len(plan.kernels) > 1:
            yield f"  kernel        {', '.join(k.name for k in kernels)}"
        yield from lines
    for tile in dict.fromkeys(i.tile for i in plan.tile_products):
        yield f"  tensor units  {tile.name}: {tile.result}"
    for step in dict.fromkeys(s for s in steps(derivation) if isinstance(s, SplitFloats)):
        arrays = " and ".join(x.removesuffix(TURNED) for x in step.arrays)
        yield f"  bfloat16      {arrays} are sums of {step.parts}: {step.result}"


def _launch(k: KernelPlan) -> Iterator[str]:
    yield f"  grid          {describe.grid(k.mapping)}"
    yield f"  group         {describe.group(k.mapping)}"
    yield f"  local memory  {describe.local_memory(k.mapping)}"
    yield f"  private       {_private(k)}"


def _private(k: KernelPlan) -> str:
    shapes = {name: d.shape for name, d in declared(k.function.body).items()}
    return describe.private_arrays(k.mapping, shapes)


def _table(alike: Sequence[Sequence[KernelPlan]]) -> Iterator[str]:
    """A row for each kind of launch: where each stands in the file, and what it needs."""
    rows = [("kernels", "groups", "work-items", "local memory", "private")]
    for kernels in alike:
        k = kernels[0]
        sizes = [str(n) for n in reversed(k.group_shape) if n > 1] or ["1"]
        private = _private(k).partition(" ")[0]
        names = ", ".join(x.name for x in kernels)
        groups = describe.grid(k.mapping).removesuffix(" groups")
        rows.append((names, groups, " x ".join(sizes), f"{k.local_bytes} bytes", private))
    widths = [max(map(len, column)) for column in zip(*rows)]
    for row in rows:
        yield "  " + "  ".join(f"{text:<{w}}" for text, w in zip(row, widths)).rstrip()


def _traffic(done: TiledRoutine) -> Iterator[str]:
    plain, tiled = access_counts.naive(done.derivation), access_counts.tiled(done.derivation)
    yield "  accesses               naive -> tiled, where the tile sizes divide the loops"
    for (name, before), (_, after) in zip(plain.rows(), tiled.rows()):
        yield f"    {name:<21}{access_counts.text(before)} -> {access_counts.text(after)}"
    for name in dict.fromkeys((*access_counts.averages(plain), *access_counts.averages(tiled))):
        yield f"    {name} is how often that loop runs, on average"
