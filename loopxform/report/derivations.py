"""How a program was derived: a listing for each stage with its new lines, and the variants."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher

from loopxform.ir.nodes import Function
from loopxform.ir.printer import expr_text, listing
from loopxform.report.facts import Line, Stage, Variant
from loopxform.transforms import Derivation, Dispatch
from loopxform.transforms import Variant as Branch
from loopxform.transforms.derivation import Record
from loopxform.transforms.mapping import dispatch

MOST_STAGES = 40
"""Listings of one derivation that are shown."""

MOST_LINES = 200
"""Lines of one listing."""


def stages(derivation: Derivation, sizes: Mapping[str, int]) -> tuple[tuple[Stage, ...], str]:
    """The stages from the user's loops on; where the host chooses between variants, those of the
    one that has these tile `sizes` follow, which is named."""
    before = listing(derivation.start).splitlines()
    out = [Stage(f"As written: {derivation.start.name}", (), _lines([], before, first=True))]
    chosen, number, many = None, 0, 0
    for title, records in _titled(derivation):
        step = records[-1].step
        if isinstance(step, Dispatch):
            number, chosen = _pictured(step, sizes)
            many = len(step.variants)
            reasons = ((f"dispatch {step.loop} ({many} variants)", records[-1].reason),)
            out.append(Stage("Variants, between which the host chooses", reasons, ()))
            continue
        after = listing(records[-1].result).splitlines()
        if many:  # what follows holds all variants
            out.append(Stage(title, _steps(records), ()))
            continue
        out.append(_stage(title, records, before, after))
        before = after
    shown = ""
    if chosen is not None and chosen.derivation is not None:
        shown = f"variant {number} of {many}, {chosen.label}" if chosen.label else "no variant"
        for title, records in chosen.derivation.stages:
            after = listing(records[-1].result).splitlines()
            out.append(_stage(f"Variant {number}: {title}", records, before, after))
            before = after
    return tuple(out), shown


def _titled(d: Derivation) -> Iterator[tuple[str, tuple[Record, ...]]]:
    """The stages; steps that were applied one by one belong to none, and are one each."""
    for title, records in d.stages:
        if title:
            yield title, records
        else:
            yield from ((str(r.step), (r,)) for r in records)


def lines(fn: Function) -> tuple[Line, ...]:
    """The listing of a program alone."""
    return _lines([], listing(fn).splitlines(), first=True)[:MOST_LINES]


def variants(derivation: Derivation) -> tuple[Variant, ...]:
    """Those of all dispatches, in the order in which the host asks."""
    return tuple(
        _variant(n, step, v)
        for step in (r.step for r in derivation.records)
        if isinstance(step, Dispatch)
        for n, v in enumerate(step.variants, 1)
    )


def skipped(derivation: Derivation) -> tuple[tuple[str, str], ...]:
    """Optional steps that are not legal here, those of variants too, each once."""
    return tuple(dict.fromkeys((str(x.step), x.reason) for x in dispatch.skipped(derivation)))


def _pictured(step: Dispatch, sizes: Mapping[str, int]) -> tuple[int, Branch | None]:
    """The last variant with these tile sizes, else the last that has steps, with its number."""
    numbered = [(n, v) for n, v in enumerate(step.variants, 1) if v.derivation]
    alike = [(n, v) for n, v in numbered if v.tiles and dict(v.tiles).items() <= sizes.items()]
    fitting = alike or numbered
    return fitting[-1] if fitting else (0, None)


def _variant(number: int, step: Dispatch, v: Branch) -> Variant:
    tiles = [f"tile sizes {', '.join(f'{n} = {size}' for n, size in v.tiles)}"] if v.tiles else []
    steps = [
        f"{r.step}: {r.reason}"
        for _, records in (v.derivation.stages if v.derivation else ())
        for r in records
    ]
    label = v.label or "the nest as it is"
    guard = tuple(map(expr_text, step.conditions(v)))
    about = v.about or "what is left"
    return Variant(f"{number}. {label}", v.cost, about, guard, (*tiles, *steps))


def _steps(records: Sequence[Record]) -> tuple[tuple[str, str], ...]:
    return tuple((str(r.step), r.reason) for r in records)


def _stage(title: str, records: Sequence[Record], before: list[str], after: list[str]) -> Stage:
    lines = _lines(before, after)
    gone = len(before) - sum(not x.is_new for x in lines)
    left = max(0, len(lines) - MOST_LINES)
    return Stage(title, _steps(records), lines[:MOST_LINES], gone, left)


def _lines(before: list[str], after: list[str], *, first: bool = False) -> tuple[Line, ...]:
    """The lines of a listing, new where the one before has none like it, however far in."""
    if first:
        return tuple(map(Line, after))
    old, new = ([x.strip() for x in y] for y in (before, after))
    matched = SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks()
    same = {n for block in matched for n in range(block.b, block.b + block.size)}
    return tuple(Line(text, n not in same) for n, text in enumerate(after))
