"""The nests of a plan with versions: with other thresholds, and how long each takes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from loopxform.codegen.host.schedule import Choose, Item, Launch, Repeat
from loopxform.codegen.plan import Plan
from loopxform.ir.nodes import Expr, Tile
from loopxform.ir.visit import map_expr, walk_expr


def with_thresholds(plan: Plan, values: Mapping[str, int]) -> Plan:
    """The same kernels, from which the host chooses with these thresholds."""

    def changed(e: Expr) -> Expr:
        known = isinstance(e, Tile) and e.name in values
        return replace(e, value=values[e.name]) if known and isinstance(e, Tile) else e

    def item(x: Item) -> Item:
        match x:
            case Choose(cond, then, orelse):
                cond = map_expr(cond, changed)
                return replace(
                    x, cond=cond, then=tuple(map(item, then)), orelse=tuple(map(item, orelse))
                )
            case Repeat(_, body):
                return replace(x, body=tuple(map(item, body)))
            case _:
                return x

    rooms = (
        b if b.when is None else replace(b, when=map_expr(b.when, changed))
        for b in plan.temporaries
    )
    return replace(plan, schedule=tuple(map(item, plan.schedule)), temporaries=tuple(rooms))


def regions(plan: Plan, owner: Mapping[str, str]) -> dict[int, str]:
    """The region of each kernel of a nest with versions, by its number: that of the innermost
    choice around it. `owner` has the region of each threshold."""
    return dict(_regions(plan.schedule, owner, ""))


def _regions(
    items: tuple[Item, ...], owner: Mapping[str, str], around: str
) -> Iterator[tuple[int, str]]:
    for x in items:
        match x:
            case Launch(number) if around:
                yield number, around
            case Choose(cond, then, orelse):
                compared = (t.name for t in walk_expr(cond) if isinstance(t, Tile))
                own = next((owner[name] for name in compared if name in owner), around)
                yield from _regions((*then, *orelse), owner, own)
            case Repeat(_, body):
                yield from _regions(body, owner, around)
            case _:
                pass
