"""`--show-plan`: for every array and loop what is invariant, what is used again, staged where."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from loopxform.analysis.invariance import Read
from loopxform.api.tile import TiledRoutine
from loopxform.cli import cost_text
from loopxform.ir.nodes import Tile
from loopxform.ir.printer import expr_text
from loopxform.ir.visit import walk_expr
from loopxform.model.reuse import Facts, Staged
from loopxform.transforms import Derivation, Dispatch


def lines(done: TiledRoutine) -> Iterator[str]:
    """The table of each nest, a line each."""
    for part in (done.tiled, *done.tiled.rest):
        yield from _nest(replace(done, tiled=part))
    yield from _variants(done)
    yield from _skipped(done.derivation)


def _nest(done: TiledRoutine) -> Iterator[str]:
    tiled = done.tiled
    yield f"plan of {done.routine.name}: {tiled.recipe}{_why(done)}"
    for d in tiled.choice.dims:
        factors = "*".join(map(str, d.factors))
        yield f"  loop {d.loop:<9} parallel, tiled by {factors}" if factors else f"  loop {d.loop}"
    parallel, own = tiled.nest.parallel, [d.loop for d in tiled.choice.dims]
    inside = parallel[max(map(parallel.index, own)) + 1 :] if tiled.recipe == "naive" else ()
    for v in parallel:
        if v not in own:
            yield f"  loop {v:<9} parallel, {'in a work-item' if v in inside else 'over groups'}"
    for v in tiled.choice.opened:
        tile = " in tiles of Tk" if v in tiled.choice.strips else ""
        yield f"  loop {v:<9} sequential, run in step by a group{tile}"
    yield from _sizes(done)
    rows = data(done)
    if rows:
        table = [TITLES, *rows]
        width = [max(len(r[n]) for r in table) for n in range(len(TITLES))]
        yield from ("  " + "  ".join(t.ljust(w) for t, w in zip(r, width)).rstrip() for r in table)
    yield from cost_text.lines(done)


TITLES = ("array", "varies with", "invariant to", "reuse", "kept in")


def data(done: TiledRoutine) -> list[tuple[str, ...]]:
    """A row of TITLES for each access of the nest."""
    facts = Facts(done.tiled.nest)
    return [_row(done, facts, r) for r in _distinct(facts.reads)]


def _sizes(done: TiledRoutine) -> Iterator[str]:
    """What the sizes need of the device, and why they are no larger."""
    found, device = done.tiled.fitted, done.limits
    if found is None:
        return
    yield f"  fits {device.name}"
    for u in found.needs.uses(done.sizes, device):
        yield f"    {u.what:<12} {u.formula} of {u.most} {u.unit}".rstrip()
    yield from (f"    {note}" for note in found.reduced)
    yield from _rates(done)


def _variants(done: TiledRoutine) -> Iterator[str]:
    """Between what the host chooses when the program runs."""
    for r in done.derivation.records:
        if isinstance(r.step, Dispatch):
            yield f"  variants of {r.step.loop}: the host takes the first whose guard holds"
            yield from versions(r.step)


def versions(step: Dispatch) -> Iterator[str]:
    """The variants, and the thresholds that their guards compare with."""
    yield from _table(step)
    if step.thresholds:
        values = (f"{name} = {value}" for name, value in step.thresholds)
        yield f"    thresholds {', '.join(values)}"


def _table(step: Dispatch) -> Iterator[str]:
    """A line for each variant: the cost by the model where it is known, in words what it is or what
    is asked, and with which thresholds."""
    rows = list[tuple[str, ...]]()
    for v in step.variants:
        guard = (e for e in step.conditions(v) if any(isinstance(x, Tile) for x in walk_expr(e)))
        amounts = " && ".join(map(expr_text, guard))
        if step.thresholds:
            rows.append((v.label, v.cost or "-", v.about, amounts or "what is left"))
        else:
            rows.append((v.label, v.cost, v.about or "what is left"))
    widths = [max(len(row[n]) for row in rows) for n in range(len(rows[0]))]
    for n, row in enumerate(rows, 1):
        cells = "  ".join(f"{text:<{width}}" for text, width in zip(row, widths))
        yield f"    {n:>2} {cells}".rstrip()


def _skipped(derivation: Derivation) -> Iterator[str]:
    """Optional steps that are not legal here, those of variants once."""
    dispatches = [r.step for r in derivation.records if isinstance(r.step, Dispatch)]
    variants = [v.derivation for d in dispatches for v in d.variants if v.derivation]
    skipped = [x for d in (derivation, *variants) for x in d.skipped]
    rows = dict.fromkeys((str(x.step), x.reason) for x in skipped)
    if rows:
        yield "  steps left out"
        width = max(len(step) for step, _ in rows)
        yield from (f"    {step:<{width}}  {reason}" for step, reason in rows)


def _rates(done: TiledRoutine) -> Iterator[str]:
    """Whether global memory keeps up with one multiplication and addition an iteration."""
    device, stages = done.limits, [s.stage for s in done.tiled.staged]
    if not (device.bandwidth and device.peak and stages):
        return
    terms = [(s.item_bytes, s.reuse(done.sizes)) for s in stages]
    read = sum(size / reuse for size, reuse in terms)
    text = " + ".join(f"{size}/{reuse:.4g}" for size, reuse in terms)
    served, wanted = device.bandwidth / read, device.peak / 2
    bound = "memory" if served < wanted else "arithmetic"
    yield (
        f"    bound by     {bound}: an iteration reads {text} = {read:.3g} bytes; memory serves "
        f"{served / 1e3:.3g} T iterations/s, a multiply-add each would be {wanted / 1e3:.3g} T"
    )


def _why(done: TiledRoutine) -> str:
    return f" ({done.tiled.reason})" if done.tiled.reason else ""


def _distinct(reads: tuple[Read, ...]) -> list[Read]:
    """Each access once."""
    return list({(r.array, r.load.index, tuple(x.var for x in r.loops)): r for r in reads}.values())


def _row(done: TiledRoutine, facts: Facts, r: Read) -> tuple[str, ...]:
    """One access of the program."""
    loops = [*done.tiled.nest.parallel, *(x.var for x in r.loops)]
    own = next((s for s in done.tiled.staged if _is(s, r)), None)
    varies = ", ".join(v for v in loops if v in r.varies) or "nothing"
    same = ", ".join(v for v in loops if v not in r.varies) or "nothing"
    place = f"line {r.load.origin.loc.line}: " if r.load.origin.loc else ""
    text = expr_text(replace(r.load, index=r.index)) + (", clamped" if r.is_clamped else "")
    return (f"{place}{text}", varies, same, *_kept(done, facts, r, own))


def _is(s: Staged, r: Read) -> bool:
    return r.array == s.stage.array and r.load.origin.loc in s.stage.places


def _kept(done: TiledRoutine, facts: Facts, r: Read, own: Staged | None) -> tuple[str, str]:
    """How often an element that a group reads is used, and where it is meanwhile."""
    sizes = done.sizes
    if own is not None:
        reuse = f"{own.stage.reuse(sizes):.4g}"
        kind = f", as {own.stage.type}" if own.stage.converted else ""
        place = f"local memory, {own.stage.bytes(sizes)} bytes for {own.stage.box.text}{kind}"
        return reuse, f"{place}, and registers" if own.private else place
    if any(r.load.origin.loc == k.load.origin.loc and r.array == k.array for k in done.tiled.kept):
        kept = [d.kept for d in done.tiled.choice.dims if d.kept and d.loop not in r.varies]
        return "*".join(kept), "a register"
    why = facts.obstacle(r, done.tiled.choice.dims) if r.loops else ""
    return "-", f"global memory{f': {why}' if why else ''}"
