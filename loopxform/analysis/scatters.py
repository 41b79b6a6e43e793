"""Scatters: `out[key[i]] = v[i]`, where the last iteration that stores to an element wins.

    for i: { ...; if (c) { ...; out[k] = e; ... } ... }

Which iteration that is can be found first, and e computed for it alone, where the loop does nothing
else with the array, and changes nothing that e is computed from but what is declared in its body.
"""

from __future__ import annotations

from loopxform.analysis.scope import below
from loopxform.ir.affine import value_of
from loopxform.ir.nodes import (
    Assign,
    Copy,
    Decl,
    For,
    Function,
    Load,
    Opaque,
    Return,
    Stmt,
    While,
)
from loopxform.ir.visit import (
    Path,
    bodies,
    declared,
    enclosing,
    names,
    perfect_nest,
    reads,
    stmt_exprs,
    walk,
    writes,
)
from loopxform.records import record


@record
class Scatter:
    """The only `store` of a loop to an array, at `path`, in the innermost loop of the perfect
    `nest`; `needed` are the statements of the same iteration that its value is computed by, in text
    order."""

    store: Assign
    path: Path
    nest: tuple[For, ...]
    needed: tuple[Stmt, ...]

    @property
    def target(self) -> Load:
        assert isinstance(self.store.target, Load)
        return self.store.target


def scatter(fn: Function, path: Path, array: str) -> Scatter | str:
    """What the loop at `path` does with `array`, or why it is no scatter."""
    loop = enclosing(fn, path)[-1]
    assert isinstance(loop, For)
    inside = list(below(loop, path))
    if any(isinstance(s, Opaque | Return | While | Copy) for _, s in inside):
        return "the loop has a statement that is not modelled, or leaves it"
    stores = [(p, s) for p, s in inside if isinstance(s, Assign) and _stores(s, array)]
    if len(stores) != 1:
        return f"{len(stores)} statements store to '{array}'"
    ((place, store),) = stores
    if store.op or store.atomic:
        return f"'{array}' is updated"
    header = names(loop.lo) | names(loop.hi) | names(loop.step)
    if array in header or any(array in _used(s) for _, s in inside):
        return f"the loop reads '{array}'"
    around = [s for s in enclosing(fn, place)[len(path) - 1 :] if isinstance(s, For)]
    nest = perfect_nest(loop)[: len(around)]
    if tuple(around) != nest or not all(_is_box(x, nest) for x in nest[1:]):
        return f"the loops around the store to '{array}' are no box"
    needed, wanted = _needed(nest[-1], store)
    if any(isinstance(x, For) for _, x in walk(needed)):
        return f"what is stored to '{array}' is computed in a loop inside"
    changed = ((wanted | writes(needed)) & writes(loop.body)) - declared(loop.body).keys()
    if changed:
        return f"what is stored to '{array}' is computed from '{min(changed)}', which the loop sets"
    return Scatter(store, place, nest, needed)


def _is_box(inner: For, nest: tuple[For, ...]) -> bool:
    """Whether a loop inside runs through the same numbers in each iteration of those around it."""
    header = names(inner.lo) | names(inner.hi)
    moving = writes(nest[0].body) | {x.var for x in nest}
    return header.isdisjoint(moving) and value_of(inner.step) == 1


def _stores(s: Assign, array: str) -> bool:
    return isinstance(s.target, Load) and s.target.array == array


def _used(s: Stmt) -> frozenset[str]:
    """What a statement reads, or is told apart by: all of its expressions but its target."""
    target = s.target if isinstance(s, Assign) else None
    index = target.index if isinstance(target, Load) else ()
    values = (s.value,) if isinstance(s, Assign) else stmt_exprs(s)
    return frozenset[str]().union(*map(names, (*values, *index)))


def _needed(loop: For, store: Assign) -> tuple[tuple[Stmt, ...], frozenset[str]]:
    """The statements in front of a store, on the way to it, that its value depends on, and all
    that is read for it."""
    wanted, kept = names(store.value), list[Stmt]()
    around: list[tuple[Stmt, ...]] = []
    body, target = loop.body, store
    while True:
        n = next(n for n, s in enumerate(body) if s is target or _holds(s, target))
        around.append(body[:n])
        if body[n] is target:
            break
        body = next(b for b in bodies(body[n]) if any(s is target or _holds(s, target) for s in b))
    for before in reversed(around):
        for s in reversed(before):
            made = s.name if isinstance(s, Decl) else None
            if writes((s,)) & wanted or made in wanted:
                wanted |= reads((s,))
                kept.insert(0, s)
    return tuple(kept), wanted


def _holds(s: Stmt, target: Stmt) -> bool:
    return any(x is target for b in bodies(s) for _, x in walk(b))
