"""Tiling a function: its nest, or the nests that it falls into, each a kernel; copies of arrays in
other layouts and partial results of reductions are kernels too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from loopxform.errors import LimitError, LoopxformError, Obstacle, TransformError, UnsupportedC
from loopxform.ir.nodes import Function
from loopxform.ir.visit import loops
from loopxform.model.coalescing import Estimate
from loopxform.model.layouts import Layouts, layouts, worth
from loopxform.prepare.blocked_loops import unblocked
from loopxform.prepare.functions_of_floats import of_floats
from loopxform.prepare.parallel_band import Nest, alone, prepare, prepare_all
from loopxform.prepare.tracked_extrema import tracked
from loopxform.prepare.unrolled_loops import rerolled
from loopxform.prepare.while_loops import whole_bodies
from loopxform.recipes.chunks import in_chunks
from loopxform.recipes.contraction import in_one_product
from loopxform.recipes.deriving import with_numbers
from loopxform.recipes.nested_versions import with_groups
from loopxform.recipes.one_row import in_one_row
from loopxform.recipes.relayout_kernels import in_layouts, mapped_copy
from loopxform.recipes.tensor_units import with_reason
from loopxform.recipes.tile_nest import one_nest
from loopxform.recipes.tiled import Tiled
from loopxform.recipes.uneven_versions import in_versions
from loopxform.schedule.params import PLAIN, Options, Recipe
from loopxform.targets.profile import PROFILES
from loopxform.targets.target import Limits
from loopxform.transforms import AtomicUpdates, Derivation, possible

NOT_PERMITTED = "LX191"
"""The code of a reduction that is rounded differently in another order."""


def tile(
    fn: Function,
    given: Mapping[str, int],
    recipe: Recipe | None = None,
    limits: Limits = PROFILES["generic"],
    *,
    strict: bool = False,
    options: Options = PLAIN,
) -> Tiled:
    """Tiles the one nest of `fn` with the sizes that are given, the others chosen to fit `limits`.
    Where neither a recipe nor options are asked for, parallel loops that stand beside other
    statements become nests of their own. With `strict` a recipe that does not fit is an error; else
    the nest is mapped naively. `options` are what else the user asks for.

    Raises UnsupportedC where the nest cannot be mapped at all, TransformError where a step of the
    recipe is refused and `strict` is set, LimitError where sizes do not fit.
    """
    numbered = tracked(unblocked(with_numbers(rerolled(Derivation(whole_bodies(fn))), options)))
    numbered = of_floats(numbered, options.fp)
    alone = Derivation(numbered.function)
    done = _tiled(alone, given, recipe, limits, options, strict=strict)
    if recipe is None and options.Rk is None and not options.relayout:
        done = with_groups(alone.function, done, limits, options)
    return with_reason(
        replace(done, derivation=numbered.extended(done.derivation)), limits, options
    )


def _tiled(
    derivation: Derivation,
    given: Mapping[str, int],
    recipe: Recipe | None,
    limits: Limits,
    options: Options,
    *,
    strict: bool,
) -> Tiled:
    """The nest, or the nests that it falls into, as the user asks for it. Raises as `tile` does."""
    automatic = recipe is None and options.Rk is None and not options.relayout
    nests, single = _prepared(derivation, recipe, several=automatic, free=options.reassociate)
    if len(nests) > 1:
        return _each(nests, given, limits, options)
    (nest,) = nests
    if single and options.Rk is None:
        split = replace(options, Rk=limits.costs.chunk_tiles)
        done = _reduced(nest, given, recipe, limits, split, strict=strict)
        versions = automatic and not given
        return in_versions(nest, done, given, limits, options) if versions else done
    done = _laid_out(nest, options.relayout or (), given, recipe, limits, options, strict=strict)
    plain = done
    if automatic and not given:
        done = in_one_product(nest, plain, limits, options, several=True)
        done = in_one_row(nest, plain, limits, options) if done is plain else done
    if done is plain and options.relayout is None and options.Rk is None and recipe is None:
        done = _coalesced(done, nest, given, limits, options)
    if done is plain and automatic:
        done = in_versions(nest, done, given, limits, options)
    return replace(done, plain=nest if options.Rk is None else None)


def _reduced(
    nest: Nest,
    given: Mapping[str, int],
    recipe: Recipe | None,
    limits: Limits,
    options: Options,
    *,
    strict: bool,
) -> Tiled:
    """A reduction with no parallel loop around it, which nobody asked to split. Raises
    UnsupportedC where it is none of scalars."""
    try:
        return _laid_out(
            nest, options.relayout or (), given, recipe, limits, options, strict=strict
        )
    except TransformError as e:
        if e.code != "LX192":
            raise
        why = next(_not_atomic(nest.function, options), e.obstacles[0])
        raise UnsupportedC(
            f"no loop of the nest can run in parallel, nor in parts: {why.message}",
            loc=why.loc,
            code=why.code,
            notes=list(e.notes),
            help=why.remedy
            if why.code == NOT_PERMITTED
            else "sum up in a scalar, or leave the nest to the host: loopxform check tells its "
            "dependences",
        ) from e


def _not_atomic(fn: Function, options: Options) -> Iterator[Obstacle]:
    """Why reductions into arrays cannot be atomic updates."""
    order = "reassociate" if options.reassociate else ""
    for site in loops(fn):
        yield from AtomicUpdates(site.loop.var, order).refused(fn, site)


def estimate(done: Tiled, limits: Limits) -> Estimate:
    """What the kernel of the nest asks global memory for; the copies in other layouts are further
    kernels."""
    return Estimate(done.nest, done.choice, done.sizes, limits, done.staged)


def _coalesced(
    plain: Tiled, nest: Nest, given: Mapping[str, int], limits: Limits, options: Options
) -> Tiled:
    """With copies of arrays in other layouts, where these pay."""
    before = estimate(plain, limits)
    wanted = layouts(before)
    if not wanted:
        return plain
    done = possible(
        lambda: _laid_out(nest, wanted, given, None, limits, options, strict=False),
        *(TransformError, LimitError, UnsupportedC),
    )
    if isinstance(done, LoopxformError):
        return plain
    arrays = tuple(array for array, _ in wanted)
    return done if worth(before, estimate(done, limits), arrays) else plain


def _laid_out(
    nest: Nest,
    orders: Layouts,
    given: Mapping[str, int],
    recipe: Recipe | None,
    limits: Limits,
    options: Options,
    *,
    strict: bool,
) -> Tiled:
    """The nest tiled, with arrays read from copies in other layouts. Raises TransformError where a
    copy cannot be made."""
    nest, copied = in_layouts(nest, orders)
    if options.Rk is None:
        several = recipe is None and not copied
        done = one_nest(nest, given, recipe, limits, options, strict=strict, several=several)
    else:
        done = in_chunks(nest, given, recipe, limits, options, strict=strict)
    derivation = done.derivation
    for _, target in copied:
        derivation = mapped_copy(derivation, target)
    return replace(done, derivation=derivation, copied=copied)


def _prepared(
    derivation: Derivation, recipe: Recipe | None, *, several: bool, free: bool
) -> tuple[tuple[Nest, ...], bool]:
    """The prepared nest, or `several` that it falls into, and whether it is a reduction with no
    parallel loop around it; its sums may be in another order if `free`."""
    every = recipe not in (None, "naive")
    nests = possible(
        lambda: (
            prepare_all(derivation, reassociate=free)
            if several
            else (prepare(derivation, every=every, apart=recipe != "group", reassociate=free),)
        ),
        UnsupportedC,
    )
    if not isinstance(nests, UnsupportedC):
        return nests, False
    nest = alone(derivation)
    if nest is None:
        raise nests
    return (nest,), True


def _each(
    nests: tuple[Nest, ...], given: Mapping[str, int], limits: Limits, options: Options
) -> Tiled:
    """Nests of one derivation, one after the other, each by the first choice that fits it."""
    done: list[Tiled] = []
    for nest in nests:
        now = nest.of(done[-1].derivation) if done else nest
        plain = one_nest(now, given, None, limits, options, strict=False)
        product = plain if given else in_one_product(now, plain, limits, options)
        versions = product is plain
        done.append(in_versions(now, plain, given, limits, options) if versions else product)
    first, *rest = done
    return replace(first, derivation=done[-1].derivation, rest=tuple(rest))
