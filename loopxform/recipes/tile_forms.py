"""Other forms of register tiles, for sizes that allow more: variants beside the plain tile.

shifted inwards      the last tile in a dimension begins earlier, for sizes of a tile or more
copies in between    tiles are stored and fetched between the iterations, in long sums
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial

from loopxform.errors import LimitError, TransformError, UnsupportedC
from loopxform.ir.nodes import Bin, Const, Expr
from loopxform.ir.visit import loops
from loopxform.model.choice import Choice
from loopxform.prepare.parallel_band import Nest
from loopxform.recipes.mapped_nest import map_choice
from loopxform.recipes.tiled import Tiled
from loopxform.recipes.variants import Draft, sequential_iterations
from loopxform.schedule.params import Options
from loopxform.targets.target import Limits
from loopxform.transforms import Derivation, ShiftInwards, possible


def plain(options: Options) -> Options:
    """The options without what has forms of its own."""
    return replace(options, shift_inwards=False, interleave_copies=None)


def asked(options: Options, limits: Limits) -> Options:
    """The options; which forms there are is the device's where nothing is said."""
    terms, shifted = options.interleave_copies, options.shift_inwards or limits.shift_inwards
    most = limits.interleave_copies if terms is None and limits.shift_inwards else terms
    return replace(options, shift_inwards=shifted, interleave_copies=most)


def as_in(forms: Options, options: Options) -> Options:
    """Other options, with the forms that the first ask for."""
    return replace(
        options, shift_inwards=forms.shift_inwards, interleave_copies=forms.interleave_copies
    )


def forms(
    nest: Nest,
    choice: Choice,
    given: Mapping[str, int],
    limits: Limits,
    options: Options,
    draft: Draft,
) -> tuple[Draft, ...]:
    """The forms that `options` ask for of a tile whose plain variant is the draft, those that ask
    the most first."""
    if limits.vector or not choice.has("register tile"):
        return ()
    out = list[Draft]()
    for wanted in _ways(options):
        done = possible(
            partial(map_choice, nest, choice, given, limits, wanted),
            *(TransformError, LimitError, UnsupportedC),
        )
        made = _draft(nest, done, wanted, draft) if isinstance(done, Tiled) else None
        if made is not None and all(made.guard != d.guard for d in out):
            out.append(made)
    return tuple(out)


def _ways(options: Options) -> Iterator[Options]:
    if options.interleave_copies:
        yield options
    if options.shift_inwards:
        yield replace(options, interleave_copies=None)


def _draft(nest: Nest, done: Tiled, options: Options, plain: Draft) -> Draft | None:
    """What a tile came to; None where it is not in a form of its own, or the host cannot ask."""
    shifted = any(isinstance(r.step, ShiftInwards) for r in done.derivation.records)
    between = _copies_between(done.derivation)
    long = _long(nest, options.interleave_copies or 0) if between else ()
    if long is None or not (between or shifted) or bool(options.interleave_copies) != between:
        return None
    known = nest.derivation.function.assumes
    fits = tuple(e for e in done.derivation.function.assumes if e not in known)
    names = (plain.label, *["shifted inwards"] * shifted, *["copies in between"] * between)
    about = (*["loops are as long as a tile"] * bool(fits), *["sums are long"] * bool(long))
    return replace(
        plain,
        label=", ".join(x for x in names if x),
        derivation=done.derivation,
        guard=(*plain.guard, *fits, *long),
        about=(*plain.about, *about),
    )


def _copies_between(derivation: Derivation) -> bool:
    return any(s.loop.interleaved for s in loops(derivation.function))


def _long(nest: Nest, least: int) -> tuple[Expr, ...] | None:
    """That a sum has so many terms; None where the host cannot tell."""
    count = sequential_iterations(nest)
    if least <= 1:
        return ()
    return None if count is None else (Bin(">=", count, Const(least)),)
