"""Loops as steps prepare them for `offload`, each way in which running values may be found then."""

from __future__ import annotations

from collections.abc import Iterator

from loopxform.ir.nodes import Assign, For, Function, Load, Opaque, Var
from loopxform.ir.printer import expr_text
from loopxform.ir.typing import symbols
from loopxform.ir.visit import Path, at, loops, loops_around, resolve, walk
from loopxform.prepare.capped_counts import counts_of_all
from loopxform.prepare.counting_elements import with_counting_elements
from loopxform.prepare.integral_images import rows_then_columns
from loopxform.prepare.perfect_nest import parallel_loops
from loopxform.recipes.running_loop import prepared_loop
from loopxform.records import record
from loopxform.transforms import Derivation, IfConvert, Interchange
from loopxform.transforms.restructure.branch_choice import chosen_scalars
from loopxform.transforms.restructure.merge_copy import merged_copies
from loopxform.transforms.storage.carry import carried_arrays


@record
class Prepared:
    """A function with a loop as it is prepared, and what the scalars that were made for it stand
    for in the text."""

    function: Function
    elements: tuple[tuple[str, str], ...] = ()


def prepared_loops(fn: Function, path: Path) -> Iterator[Prepared]:
    """The function with the loop at `path` prepared, in one way after the other."""
    counted = with_counting_elements(fn)
    if counted is not fn:
        yield Prepared(counted, tuple(_elements(fn, counted)))
    uncapped = counts_of_all(fn).fn
    if uncapped is not fn:
        yield Prepared(uncapped)
    loop = at(fn, path)
    if not isinstance(loop, For) or any(isinstance(s, Opaque) for _, s in walk(loop.body)):
        return
    var = reference(fn, path)
    inside = [s for _, s in walk(loop.body) if isinstance(s, For)]
    start = Derivation(fn)
    if not inside:
        yield from _with_running_values(start, var)
        yield from _rows_then_columns(start, next(iter(loops_around(fn, path)), None))
        return
    yield from _rows_then_columns(start, loop)
    yield from _columns(start, var, inside)


def reference(fn: Function, path: Path) -> str:
    """What steps call the loop at `path`: by its name, with a number where others have it too."""
    var = next(s.loop.var for s in loops(fn) if s.path == path)
    same = [s.path for s in resolve(fn, var)]
    return var if len(same) == 1 else f"{var}#{same.index(path) + 1}"


def _with_running_values(start: Derivation, var: str) -> Iterator[Prepared]:
    """A loop without others inside, as `offload` looks for running values in it."""
    converted, refusal = start.optional(IfConvert(var))
    for before in (start, converted) if refusal is None else (start,):
        (site,) = resolve(before.function, var)
        runs = merged_copies(site.loop) or chosen_scalars(site.loop)
        if not runs and not carried_arrays(before.function, site.loop):
            continue
        prepared = prepared_loop(before, var)
        if prepared is not None:
            yield Prepared(prepared.derivation.function, prepared.carried)


def _columns(start: Derivation, var: str, inside: list[For]) -> Iterator[Prepared]:
    """A loop around parallel ones, inside them."""
    (site, *others) = resolve(start.function, var)
    if others or not {x.var for x in inside} <= parallel_loops(start.function, site.path):
        return
    moved, refusal = start.optional(*(Interchange(var, x.var) for x in inside))
    if refusal is None:
        yield from _with_running_values(moved, var)


def _rows_then_columns(start: Derivation, outermost: For | None) -> Iterator[Prepared]:
    """The nest of a loop as one of rows and one of columns."""
    if outermost is None or len(resolve(start.function, outermost.var)) != 1:
        return
    summed = rows_then_columns(start, outermost.var, reassociate=True)
    if summed is not None:
        made = summed.function
        yield Prepared(made, tuple(_elements(start.function, made)))


def _elements(fn: Function, made: Function) -> Iterator[tuple[str, str]]:
    """The elements, or arrays, that scalars stand for which are stored in them."""
    own = symbols(made).keys() - symbols(fn).keys()
    for path, s in walk(made.body):
        match s:
            case Assign(Load(array) as element, Var(name)) if name in own:
                yield name, expr_text(element) if len(path) == 1 else array
            case _:
                pass
