"""Pointers in the clauses of a loop: a copy of a pointer leaves shared what it points to.

private(p)             p points nowhere until an iteration sets it
linear(p)              p advances in each iteration, where it does
threadprivate(p)       each thread's p may point to other memory
reduction(+: h[0:n])   the elements of the section are copied, and no others
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from loopxform.analysis.accesses import Access
from loopxform.analysis.formula import Translator
from loopxform.analysis.linear import Lin, at_least, const, plus
from loopxform.analysis.openmp.claim import Doubt, Finding
from loopxform.analysis.openmp.construct import PRIVATE, Construct, touched_by
from loopxform.analysis.region import Instance, region
from loopxform.analysis.system import feasible
from loopxform.ir.directives import Directive, PointerSet, Section
from loopxform.ir.nodes import Expr, Load

Told = Iterator[Finding | Doubt]


def pointers(c: Construct) -> Told:
    """What is wrong, or not proven, about pointers that threads have copies of."""
    yield from copies(c)
    yield from _set(c)
    yield from _set_in_text(c)
    yield from _of_region(c)
    yield from _advancing(c)
    yield from _of_threads(c)


def copies(c: Construct) -> Told:
    """What is not proven of copies, however many threads there are."""
    yield from _unset(c)
    for name in sorted(originals(c)):
        text = f"'{name}' is a copy here, and a pointer that was set before leads to the original"
        yield Doubt("LX310", text, c.directive.loc)
    for section in _sections(c):
        if any(_leaves(i, a, section) is not False for i, a in _uses(c, section.array)):
            text = f"an element of '{section.array}' outside of {section.text} may be touched"
            yield Doubt("LX311", text, c.directive.loc)


def _unset(c: Construct) -> Told:
    regions = () if c.region is None else c.around[: c.around.index(c.region) + 1]
    for clause in (x for d in (c.directive, *regions) for x in d.clauses):
        for name in clause.unset:
            if name in c.directive.pointers("firstprivate") - c.directive.pointers("private"):
                continue
            text = f"the pointer '{name}' is {clause.name}, and nothing sets it: it points nowhere"
            sure = next((i for i, a in _uses(c, name) if _happens(i, a)), None)
            if sure is None:
                yield Doubt("LX311", text, c.directive.loc)
            else:
                yield Finding("LX302", text, sure.loc, name, cure=f"firstprivate({name})")


def _set(c: Construct) -> Told:
    """Shared pointers that iterations set: the loop tree has their arrays in their place."""
    regions = () if c.region is None else c.around[: c.around.index(c.region) + 1]
    own = frozenset(n for d in (c.directive, *regions) for n in d.pointers(*PRIVATE))
    outside = None if c.region is None else {x.name for x in c.region.sets}
    told: set[str] = set()
    for x in () if c.is_orphan else c.directive.sets:
        inner = any(x in _same(d) and x.name in d.pointers(*PRIVATE) for d in c.inside)
        shared = x.name not in own | c.threadprivate and (outside is None or x.name in outside)
        if inner or not shared or x.name in told or c.is_single:
            continue
        told.add(x.name)
        if x.always:
            text = f"race on '{x.name}': each iteration sets the pointer, which is shared"
            word = "lastprivate" if c.later(x.name) else "private"
            yield Finding("LX300", text, x.loc, x.name, cure=f"{word}({x.name})")
        else:
            text = f"a race on '{x.name}' could not be excluded: iterations set the shared pointer"
            yield Doubt("LX310", text, x.loc)


def _set_in_text(c: Construct) -> Told:
    """Shared variables that iterations set in the text only: the loop tree has pointers of each
    iteration in the place of one that is set in several ways."""
    spelling = dict(c.fn.spelling)
    known = {spelling.get(x.name, x.name) for x in c.directive.sets}
    for name in () if c.is_single else c.loop.sets:
        if name not in known | c.private:
            text = f"a race on '{name}' could not be excluded: iterations set it, and it is shared"
            yield Doubt("LX310", text, c.directive.loc)


def _same(d: Directive) -> Iterator[PointerSet]:
    """What a directive around others says of the pointers that it sets: `always` is its own."""
    for x in d.sets:
        yield from (replace(x, always=always) for always in (True, False))


def _of_region(c: Construct) -> Told:
    """Pointers that the region sets where they are shared, and those that are private in it, and
    that not every thread of it sets."""
    if c.region is None:
        return
    mine = {x.name for x in c.directive.sets}
    own = c.region.pointers(*PRIVATE) | c.directive.pointers(*PRIVATE) | c.threadprivate
    for name in sorted({x.name for x in c.region.sets} - mine - own):
        if c.directive.named is None or name in c.directive.named:
            text = f"threads of the region set the pointer '{name}', which is shared"
            yield Doubt("LX313", text, c.directive.loc)
    theirs = {x.name for x in c.region.sets if x.always}
    for name in sorted(c.region.pointers("private") - mine - theirs):
        if c.directive.named is None or name in c.directive.named:
            text = f"the pointer '{name}' is private, and may point nowhere in some thread"
            yield Doubt("LX311", text, c.directive.loc)


def _advancing(c: Construct) -> Told:
    for name in sorted(c.directive.pointers("linear")):
        if any(True for _ in _uses(c, name)):
            text = f"the pointer '{name}' is linear, and could not be seen to advance by a constant"
            yield Doubt("LX311", text, c.directive.loc)


def _of_threads(c: Construct) -> Told:
    touched = frozenset(n for _, s in c.statements for n in touched_by(s)[0])
    for p in c.fn.objects:
        if p.pointer and p.name in touched and p.name.partition(".")[0] in c.threadprivate:
            text = f"each thread has its own '{p.name}', which may point to other memory"
            yield Doubt("LX311", text, c.directive.loc)


def originals(c: Construct) -> frozenset[str]:
    """The objects that clauses copy, and to which pointers lead that were set where nothing was
    copied yet: in the loop tree both are one."""
    regions = () if c.region is None else c.around[: c.around.index(c.region) + 1]
    every = (c.directive, *regions, *c.inside)
    return frozenset(name for d in every for name in d.variables(*PRIVATE) & d.pointed)


def _sections(c: Construct) -> Iterator[Section]:
    for clause in c.directive.clauses:
        yield from clause.sections if clause.name == "reduction" else ()


def _uses(c: Construct, name: str) -> Iterator[tuple[Instance, Access]]:
    for i in region(c.fn, c.path).instances:
        yield from ((i, a) for a in i.accesses if a.storage.name == name)


def _happens(i: Instance, a: Access) -> bool:
    """Proven: there are sizes for which the access happens."""
    whole = ((*d, *when) for d in i.domain for _, when in a.cases)
    return i.exact and a.exact and any(map(feasible, whole))


def _leaves(i: Instance, a: Access, section: Section) -> bool | None:
    """Whether an access may be outside of a section; None where nothing is known about it."""
    if not isinstance(a.expr, Load):
        return None
    for n, (low, length) in enumerate(section.parts):
        first, size = (_linear(e, a) for e in (low, length))
        for subscripts, when in a.cases:
            x = subscripts[n] if n < len(subscripts) else None
            if x is None or first is None or size is None:
                return None
            below = at_least(plus(first, const(-1)), x)
            above = at_least(x, plus(first, size))
            if any(feasible((*d, *when, side)) for d in i.domain for side in (below, above)):
                return True
    return False


def _linear(e: Expr | None, a: Access) -> Lin | None:
    found = Translator(a.names).cases(e) if e is not None else None
    return found[0][0] if found is not None and len(found) == 1 and not found[0][1] else None
