"""What a permission of floating point would gain: the same file once more, with it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from loopxform.analysis.verdict import judge
from loopxform.api.facade import Routine
from loopxform.cli import permission_text
from loopxform.errors import LoopxformError
from loopxform.floating_point import PERMITTED
from loopxform.ir.permitted import permitted
from loopxform.ir.typing import symbols
from loopxform.offload.program_state import Part
from loopxform.recipes.tiled import Tiled
from loopxform.report.costs import Costs
from loopxform.report.facts import Gain
from loopxform.report.mapping import Became, Wanted, became
from loopxform.transforms import possible


def of_floating_point(done: Became, wanted: Wanted) -> Iterator[tuple[str, Gain]]:
    """What `--fp reassociate` and `--fp fast` would change, by function."""
    yield from _fast(done)
    sums = {r.name for r in done.file if _float_reductions(r)}
    if not sums or wanted.fp.reassociate:
        return
    level = PERMITTED["reassociate"]
    more = possible(lambda: became(done.file, replace(wanted, fp=level)), LoopxformError)
    if isinstance(more, LoopxformError):
        return
    for name in sorted(sums):
        before, after = _forms(done, name, wanted), _forms(more, name, wanted)
        changed = [line for line in after if after[line] != before.get(line)]
        if changed:
            text = "; ".join(
                f"line {line}: {after[line]}{_was(before.get(line))}" for line in changed
            )
            brings = f"{text}. Sums are then in another order: results differ in the last digits."
            yield name, Gain("--fp reassociate", brings, tuple(changed))


def _was(before: str | None) -> str:
    return f", now {before}" if before else ", which stays on the host now"


def _float_reductions(r: Routine) -> bool:
    """Whether a loop reduces numbers whose sum depends on the order."""
    if permitted(PERMITTED["contract"], r.function).reassociate:
        return False
    types = symbols(r.function)
    arrays = {x.array for v in judge(r.function) for x in v.reductions}
    return any(types[a].is_float for a in arrays if a in types)


def _forms(done: Became, name: str, wanted: Wanted) -> dict[int, str]:
    """What each part of a function became, by its line, with the predicted time."""
    out = dict[int, str]()
    if done.tiled is not None and done.tiled.routine.name == name:
        for t in (done.tiled.tiled, *done.tiled.tiled.rest):
            loc = t.nest.outermost.origin.loc
            out.setdefault(loc.line if loc else 0, _form(t, wanted))
    for r in done.offloaded.regions if done.offloaded else ():
        for p in r.done.parts if r.region.owner.name == name else ():
            out.setdefault(p.loc.line if p.loc else 0, _of_part(p, wanted))
    return out


def _of_part(p: Part, wanted: Wanted) -> str:
    if p.kind == "host":
        return "on the host, in order"
    if p.tiled is None or p.about:
        return p.about or "on one work-item, in order"
    return _form(p.tiled, wanted)


def _form(t: Tiled, wanted: Wanted) -> str:
    time = Costs.of(t, wanted.limits, wanted.fp).time
    return t.choice.title + (f", {time}" if time else "")


def _fast(done: Became) -> Iterator[tuple[str, Gain]]:
    """Quotients and square roots as accurate as the device has them."""
    found = list[tuple[str, str]]()
    if done.tiled is not None:
        parts = [done.tiled.tiled, *done.tiled.tiled.rest]
        found.append((done.tiled.routine.name, permission_text.faster(done.tiled, parts)))
    for r in done.offloaded.regions if done.offloaded else ():
        tiled = [p.tiled for p in r.done.parts if p.tiled is not None]
        found.append((r.region.owner.name, permission_text.faster(r.done, tiled)))
    yield from ((name, Gain("--fp fast", text)) for name, text in found if text)
