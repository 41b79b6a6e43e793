"""Arrays that kernels of a pipeline need far apart, computed in each of them.

    kernel 1: b = f(a), ..;  kernel 2: c = g(b, ..)  ->  kernel 1: b = f(a), ..;
                                                         kernel 2: b_2 = f(a), c = g(b_2, ..)

Neither stores the array then. That is tried where a later kernel reads what one nest computes from
arrays that no nest writes, and stays where it saves time by the model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from loopxform.ir.nodes import For, Function
from loopxform.ir.visit import loops, reads, resolve, walk, writes
from loopxform.model.fused_stages import Grouping, Known
from loopxform.offload.program_state import Program
from loopxform.prepare.parallel_band import Nest
from loopxform.recipes.deriving import Work
from loopxform.transforms import Recompute

TITLE = "Arrays that later kernels compute again"

Choose = Callable[[Function, list[str], Known], Grouping]
"""The kernels of nests, which are given by their outermost loops."""


def recomputed(
    program: Program, run: list[str], found: Grouping, choose: Choose
) -> tuple[list[str], Grouping]:
    """The nests with those that run once more, and their kernels."""
    for nest, reader in [*_candidates(program.fn, run, found)]:
        first, place = run.index(nest), run.index(reader)
        w = Work(program.derivation.titled(TITLE), {})
        if _kernel(found, first) == _kernel(found, place) or not w.attempt(Recompute(nest, reader)):
            continue
        arrays = _written(program.fn, nest)
        readers = (k for k, var in enumerate(run) if arrays & _read(program.fn, var))
        known = found.with_one_more(place, {first, *readers})
        (again,) = {*_outermost(w.fn)} - {*_outermost(program.fn)}
        more = [*run[:place], again, *run[place:]]
        other = choose(w.fn, more, known)
        if other.time < found.time:
            program.nests[again] = _copy(program.nests[nest], w, again)
            program.derivation, run, found = w.derivation, more, other
    return run, found


def _candidates(fn: Function, run: list[str], found: Grouping) -> Iterator[tuple[str, str]]:
    """Nests, and the first one of a later kernel that reads what they compute."""
    made = frozenset[str]().union(*(_written(fn, var) for var in run))
    for n, var in enumerate(run):
        arrays, met = _written(fn, var), {_kernel(found, n)}
        for k, reader in enumerate(run[n + 1 :], n + 1):
            kernel = _kernel(found, k)
            if arrays & _read(fn, reader) and kernel not in met and not made & _read(fn, var):
                met.add(kernel)
                yield var, reader


def _kernel(found: Grouping, n: int) -> int:
    """The first nest of the kernel of a nest."""
    return next((c.first for c in found.cuts if c.first <= n < c.first + c.count), n)


def _copy(nest: Nest, w: Work, var: str) -> Nest:
    """A nest as it runs once more."""
    (site,) = resolve(w.fn, var)
    own = [x.var for _, x in walk((site.loop,)) if isinstance(x, For)]
    parallel = tuple(own[: len(nest.parallel)])
    return Nest(w.derivation, parallel, site.path, nest.reserved)


def _outermost(fn: Function) -> list[str]:
    sites = loops(fn)
    paths = {s.path for s in sites}
    return [s.loop.var for s in sites if s.path[:-1] not in paths]


def _written(fn: Function, var: str) -> frozenset[str]:
    return writes((resolve(fn, var)[0].loop,))


def _read(fn: Function, var: str) -> frozenset[str]:
    return reads((resolve(fn, var)[0].loop,))
