"""The derivation of a program, step by step, as `--show-steps` prints it."""

from __future__ import annotations

from collections.abc import Iterator

from loopxform.ir.printer import listing
from loopxform.transforms import Derivation, Dispatch, Variant


def steps(derivation: Derivation) -> Iterator[str]:
    """The derivation: for each stage its steps with their reasons, then the listing."""
    yield f"Listing 1: {derivation.start.name}"
    yield listing(derivation.start)
    yield from _stages(derivation)


def _stages(derivation: Derivation) -> Iterator[str]:
    for title, records in derivation.stages:
        yield title
        width = max(len(str(r.step)) for r in records)
        for r in records:
            yield f"  {r.step!s:<{width}}  -- {r.reason}"
            if isinstance(r.step, Dispatch):
                for n, v in enumerate(r.step.variants, 1):
                    yield from _variant(n, v)
        yield ""
        yield listing(records[-1].result)


def _variant(number: int, v: Variant) -> Iterator[str]:
    """The guard of a variant and its steps."""
    yield f"\n  Variant {number}: {v.label or 'the nest as it is'} ({v.about or 'what is left'})"
    yield from (f"    where {condition}" for condition in v.guard)
    if v.tiles:
        yield f"    tile sizes: {', '.join(f'{n} = {size}' for n, size in v.tiles)}"
    for title, records in v.derivation.stages if v.derivation else ():
        yield f"    {title}"
        yield from (f"      {r.step}  -- {r.reason}" for r in records)
