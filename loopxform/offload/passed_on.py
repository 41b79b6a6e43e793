"""Scalars that kernels pass on in memory, and that all work-items of a group set.

m[0] = e;  if (c) m[0] = f;     ->  m_acc = e;  if (c) m_acc = f;     each work-item its own
                                    the first work-item: m[0] = m_acc
"""

from __future__ import annotations

from collections.abc import Iterator

from loopxform.ir.names import fresh
from loopxform.ir.nodes import Assign, For, Function, If, Load, Stmt
from loopxform.ir.visit import bodies, loops, resolve
from loopxform.transforms import Derivation, MapTo, Parallelise, Scalarise, UnitLoop
from loopxform.transforms.restructure.places import place_text


def stored_once(derivation: Derivation, name: str) -> Derivation:
    """The program in which one work-item of a group stores the only element of the array `name`,
    wherever all of the group would."""
    for kernel in list(_set_by_groups(derivation.function, name)):
        after, refused = derivation.optional(Scalarise(name, kernel))
        if refused is not None:
            continue
        (site,) = resolve(after.function, kernel)
        stores = [n for n, s in enumerate(site.loop.body) if _sets((s,), name)]
        once = fresh(after.function, "once")
        place = place_text((*site.path, stores[-1]))
        steps = (UnitLoop(place, "1", once), Parallelise(once), MapTo(once, "thread.x"))
        after, refused = after.optional(*steps)
        derivation = derivation if refused is not None else after
    return derivation


def _set_by_groups(fn: Function, name: str) -> Iterator[str]:
    """The kernels whose work-items share loops, and that set the element beside these."""
    for site in loops(fn):
        mapped = site.loop.level is not None and site.loop.level.kind == "grid"
        shared = any(isinstance(s, For) and s.level for s in site.loop.body)
        alone = len(resolve(fn, site.loop.var)) == 1
        if mapped and shared and alone and _sets(site.loop.body, name):
            yield site.loop.var


def _sets(body: tuple[Stmt, ...], name: str) -> bool:
    """Whether statements that all work-items of a group run set the element."""
    for s in body:
        if isinstance(s, Assign) and isinstance(s.target, Load) and s.target.array == name:
            return True
        inside = isinstance(s, If) or (isinstance(s, For) and s.level is None)
        if inside and any(_sets(x, name) for x in bodies(s)):
            return True
    return False
