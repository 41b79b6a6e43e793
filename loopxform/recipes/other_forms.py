"""Another form of a nest, tiled in the place of the nest where a guard of the host holds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from loopxform.errors import TransformError
from loopxform.ir.condition_text import condition_text
from loopxform.ir.evaluate import evaluate
from loopxform.ir.nodes import Expr
from loopxform.ir.visit import names
from loopxform.prepare.parallel_band import Nest
from loopxform.recipes.tiled import Tiled
from loopxform.transforms import Derivation, Dispatch, Variant, with_tiles


def in_its_place(
    nest: Nest,
    plain: Tiled,
    other: Nest,
    done: Tiled,
    guard: tuple[Expr, ...],
    title: str,
    why: str,
) -> Tiled:
    """The nest as it is tiled (`plain`), or the `other` form of it as that is (`done`), where the
    `guard` holds; its label in reports, and why it is taken. `plain` where it never holds."""
    if not all(names(e) or evaluate(e, {}) for e in guard):
        return plain
    guard = tuple(e for e in guard if names(e))
    if not guard:
        return replace(done, derivation=nest.derivation.extended(done.derivation))
    tiles, known = plain.derivation.start.tiles, len(nest.derivation.records)
    start = with_tiles(nest.function, dict(tiles))
    as_it_is = Derivation(start, plain.derivation.records[known:])
    variants = (
        *_variants(other.derivation, done.derivation, guard, title, why),
        *_variants(Derivation(nest.function), as_it_is),
    )
    step = Dispatch(nest.parallel[0], variants)
    chosen = nest.derivation.titled("Variants").tried(step)
    return plain if isinstance(chosen, TransformError) else replace(plain, derivation=chosen)


def _variants(
    before: Derivation,
    done: Derivation,
    guard: tuple[Expr, ...] = (),
    title: str = "",
    why: str = "",
) -> Iterator[Variant]:
    """Those of a nest that is prepared as in `before`, under a further guard."""
    asked = tuple(map(condition_text, guard))
    last = done.records[-1].step
    if len(done.records) == len(before.records) + 1 and isinstance(last, Dispatch):
        rows = [(v, before.extended(v.derive(before.function))) for v in last.variants]
    else:
        rows = [(Variant("", "", "", (), (), ()), done)]
    for v, derivation in rows:
        yield replace(
            v,
            label=", ".join(x for x in (title, v.label) if x),
            about="; ".join(x for x in (why, v.about) if x),
            guard=(*asked, *v.guard),
            tiles=derivation.start.tiles,
            steps=tuple(r.step for r in derivation.records),
            derivation=derivation,
        )
