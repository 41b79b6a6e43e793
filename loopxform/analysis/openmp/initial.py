"""What variables of which each thread has its own are worth when the loop begins.

parallel private(x)   nothing, until each thread sets its x
threadprivate(x)      what the thread left there before, unless copyin(x) copies that of the first
parallel for private(x)  in the bounds of the loop: either copy may be meant
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from loopxform.analysis.openmp.claim import Doubt
from loopxform.analysis.openmp.construct import Construct
from loopxform.analysis.privatise import privacy
from loopxform.analysis.reductions import updates
from loopxform.analysis.scope import order
from loopxform.ir.directives import Directive
from loopxform.ir.nodes import Assign, For, Var
from loopxform.ir.visit import Path, enclosing, names, reads, walk

_SOME_THREADS = ("for", "single", "sections", "master", "masked", "distribute", "task")


def initial(c: Construct, directives: Sequence[Directive]) -> Iterator[Doubt]:
    """Variables that the loop reads, and that may have no value in a thread, or another."""
    bounds = frozenset(n for x in c.nest for e in (x.lo, x.hi, x.step) for n in names(e))
    for name in sorted(bounds & c.directive.variables("private", "lastprivate", "linear")):
        text = f"'{name}' is private, and in the bounds of the loop: which copy that is differs"
        yield Doubt("LX311", text, c.directive.loc)
    for name in sorted(unset(c, directives)):
        text = f"'{name}' is private to each thread of the region, and may have no value there"
        yield Doubt("LX311", text, c.directive.loc)
    for name in sorted(_of_region(c, "reduction")):
        known = updates(c.fn, c.path, name)
        used = _is_read_first(c, name, bounds) and (known is None or name in bounds)
        if used and not _is_set(c, name, directives):
            text = f"'{name}' is a reduction of the region, where it begins with another value"
            yield Doubt("LX311", text, c.directive.loc)
    for name in sorted(reads((c.loop,))):
        if name.partition(".")[0] in c.threadprivate and _is_read_first(c, name, bounds):
            text = f"each thread has its own '{name}', whose value may be another"
            yield Doubt("LX311", text, c.directive.loc)


def unset(c: Construct, directives: Sequence[Directive]) -> frozenset[str]:
    """Private variables of the region that the loop reads, and that not every thread sets."""
    header = frozenset(n for x in c.nest for e in (x.lo, x.hi, x.step) for n in names(e))
    found = (n for n in _of_region(c, "private", "lastprivate") if _is_read_first(c, n, header))
    return frozenset(n for n in found if not _is_set(c, n, directives))


def _of_region(c: Construct, *words: str) -> frozenset[str]:
    if c.region is None:
        return frozenset()
    inner = c.around[: c.around.index(c.region) + 1]
    return frozenset(n for d in inner for n in d.variables(*words))


def _is_read_first(c: Construct, name: str, bounds: frozenset[str]) -> bool:
    """Whether an iteration may see the value that the variable has before the loop."""
    known = privacy(c.fn, c.path, name)
    array = any(p.name == name and p.array for p in c.fn.objects)
    used = name in reads(c.loop.body) and (array or known.exposed is not None)
    return name in bounds or used


def _is_set(c: Construct, name: str, directives: Sequence[Directive]) -> bool:
    """Whether every thread of the region sets the variable on its way to the loop, or counts with
    it a loop around."""
    around = [(n, s) for n, s in enumerate(enclosing(c.fn, c.path), 1) if isinstance(s, For)]
    if c.region and any(s.var == name and c.region.governs(c.path[:n]) for n, s in around):
        return True
    set_at = (
        p
        for p, s in walk(c.fn.body)
        if isinstance(s, Assign) and s.target == Var(name) and not s.op
    )
    return any(_is_on_the_way(c, path, directives) for path in set_at)


def _is_on_the_way(c: Construct, path: Path, directives: Sequence[Directive]) -> bool:
    """Whether every thread runs the statement at `path` before it comes to the loop."""
    before = path[:-1] == c.path[: len(path) - 1] and order(path) < order(c.path)
    inside = c.region is not None and c.region.governs(path)
    only_some = any(d.has(*_SOME_THREADS) and d.governs(path) for d in directives)
    return before and inside and not only_some
