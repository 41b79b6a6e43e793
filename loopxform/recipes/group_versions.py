"""The versions of a loop whose iterations hold parallel loops, in the order in which the host asks
for them (`nested_versions`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from loopxform.ir.affine import value_of
from loopxform.ir.names import used_names
from loopxform.ir.nodes import Bin, Const, Expr, For, Function
from loopxform.ir.printer import expr_text
from loopxform.model.saturation import busy_rows, filling_items, in_turn
from loopxform.recipes.bounded_arrays import longest
from loopxform.recipes.grouped_nest import APART, ONE_PASS, Grouped
from loopxform.recipes.summed_chunks import of_summed_chunks
from loopxform.recipes.tiled import Tiled
from loopxform.recipes.version_choice import Thresholds, Version, taken_at_all
from loopxform.recipes.versions import filling, time_text, times
from loopxform.schedule.params import Options
from loopxform.targets.target import Limits
from loopxform.transforms import Derivation, thresholds_of
from loopxform.transforms.edges.bounds import trip_count


def versions_of(
    fn: Function,
    loop: For,
    found: Grouped | None,
    flat: Derivation | None,
    items: Tiled | None,
    limits: Limits,
    options: Options,
    earlier: int = 0,
) -> tuple[list[Version], Thresholds]:
    """The versions of a loop that calls may take, in the order in which the host asks for them, and
    the thresholds of their guards, numbered after so many `earlier` ones. All of them begin with
    `fn`."""
    first = earlier if flat is None else len(thresholds_of(flat))
    named = Thresholds(first, used_names(fn), dict(options.threshold))
    outer = trip_count(loop) if found is None else found.outer
    guard, versions = list[Expr](), list[Version]()
    if items is not None:
        enough = named("suff_outer_par", _filling(items, found, limits))
        guard.append(Bin("<", outer, enough))
    if found is not None:
        own = flat is None and items is not None
        long = _long_rows(found, named) if own else None
        asked = _sufficient(found, named, limits, wide=flat is not None, alone=items is None)
        if asked is not None:
            rows = (*guard, *asked) if long is None else long
            least = found.least_in_registers or 1
            longer = (x for x in found.rows if longest(x.fits) >= least)
            versions += [_of_rows(x, rows, limits) for x in longer]
            versions += _groups(found, (*guard, *asked), named, limits)
        if found.chunked is not None:
            versions.append(of_summed_chunks(found.chunked, guard, limits))
    if flat is not None:
        about = "around each of the parallel loops inside"
        versions.append(Version("flat", about, flat, tuple(guard)))
    if items is not None:
        versions += [] if found is None else [*_in_tiles(found, limits)]
        about = "a work-item for each iteration, in order"
        cost = time_text(items, limits) if found else ""
        versions.append(Version("items", about, items.derivation, (), cost))
    return taken_at_all(versions), named


def _long_rows(found: Grouped, named: Thresholds) -> tuple[Expr, ...]:
    """When rows are long enough for registers, however many there are."""
    least = found.least_in_registers
    return () if least is None else (Bin(">=", found.inner, named("suff_intra_par", least)),)


def _sufficient(
    found: Grouped, named: Thresholds, limits: Limits, *, wide: bool, alone: bool
) -> list[Expr] | None:
    """When groups have enough to do (None: never): where another version is `wide`, with more
    parallelism, enough work-items of all groups; else those of a group. Nothing is asked where
    groups stand `alone`."""
    if wide:
        busy = times(found.outer, Bin("min", found.inner, Const(found.items)))
        enough = named("suff_intra_par", filling_items(limits))
        most = value_of(found.outer)
        never = most is not None and most * found.items < enough.value
        return None if never else [Bin(">=", busy, enough)]
    if alone:
        return []
    least = min(found.busy, longest(found.tiles[-1].fits) + 1) if found.tiles else found.busy
    return [Bin(">=", found.inner, named("suff_intra_par", least))]


def _groups(
    found: Grouped, guard: tuple[Expr, ...], named: Thresholds, limits: Limits
) -> list[Version]:
    """A group for each iteration, with arrays in local memory where they fit; loops apart where
    only few groups with larger ones run at a time."""
    about, little = "a group for each iteration", found.little
    smaller = [] if little is None else _groups(little, guard, named, limits)
    if found.apart is not None:
        smaller.append(_of_nests(found, guard, named, limits))
    label, whole = ("groups", found.tiled) if found.once is None else (ONE_PASS, found.once)
    plain = Version(label, about, whole.derivation, guard, time_text(whole, limits))
    if found.local is None:
        return [plain]
    local = _of_arrays(found, guard, limits)
    if not found.fits or found.alone:
        return [*smaller, local]
    return [*smaller, local, plain]


def _of_nests(found: Grouped, guard: Sequence[Expr], named: Thresholds, limits: Limits) -> Version:
    """A nest for each loop of an iteration, where there are many rows of many elements."""
    assert found.apart is not None
    many = Bin(">=", found.outer, named("suff_outer_par", busy_rows(limits)))
    long = Bin(">=", found.inner, Const(found.busy))
    about = f"a nest for each loop, a work-item for each sum, where {expr_text(long)}"
    return Version(APART, about, found.apart.derivation, (*guard, many, long))


def _of_rows(found: Grouped, guard: tuple[Expr, ...], limits: Limits) -> Version:
    """A group for each iteration, with rows in registers."""
    fits, cost = found.fits, time_text(found.tiled, limits)
    about = f"a group for each row that fits{': ' if fits else ''}"
    about += " && ".join(map(expr_text, fits))
    return Version(found.in_registers, about, found.tiled.derivation, (*guard, *fits), cost)


def _in_tiles(found: Grouped, limits: Limits) -> Iterator[Version]:
    """A work-item for each iteration, with the rows of a group in local memory."""
    for x in found.tiles:
        about = "a work-item for each row, in order"
        about += f", that fits: {' && '.join(map(expr_text, x.fits))}" if x.fits else ""
        yield Version(x.label, about, x.tiled.derivation, x.fits, time_text(x.tiled, limits))


def _of_arrays(found: Grouped, guard: tuple[Expr, ...], limits: Limits) -> Version:
    """A group for each iteration, with arrays in local memory."""
    assert found.local is not None
    about, cost = "a group for each iteration", time_text(found.local, limits)
    if found.fits:
        about = f"{about} that fits: {' && '.join(map(expr_text, found.fits))}"
    return Version(found.label, about, found.local.derivation, (*guard, *found.fits), cost)


def _filling(items: Tiled | None, found: Grouped | None, limits: Limits) -> int:
    """From how many iterations on a work-item for each is enough."""
    if items is not None and limits.warp == 1:
        return in_turn(limits, items.sizes.get("Tx", 1))
    if items is None or found is None:
        return filling_items(limits)
    return filling(items, found.local or found.tiled, limits)
