"""Where a C function declares its scalars.

The loop tree leaves that open: a loop variable is declared by its loop unless the function reads it
afterwards.
"""

from __future__ import annotations

import re

from loopxform.ir.nodes import Decl, For, Function, If, Stmt, Var, While
from loopxform.ir.types import Scalar
from loopxform.ir.visit import Path, names, reads, stmt_exprs, walk, walk_expr, writes
from loopxform.records import record


@record
class Scopes:
    """`outside` are the loops that use a variable declared outside their header; `before` the
    variables to declare ahead of the statement at a path; `silenced` the names that get a
    `(void)name;` because nothing reads them; `dropped` the declarations that nothing needs."""

    outside: frozenset[Path]
    before: dict[Path, tuple[tuple[str, Scalar], ...]]
    silenced: frozenset[str]
    dropped: frozenset[str]


def scopes_of(fn: Function) -> Scopes:
    """Decides every declaration of `fn`."""
    declared = {s.name for _, s in walk(fn.body) if isinstance(s, Decl)}
    known = {p.name for p in fn.objects} | declared
    sites = [(path, s) for path, s in walk(fn.body) if isinstance(s, For)]
    outside = frozenset(p for p, s in sites if s.live_out or s.var in names(s.lo))
    late = {s.var: s.type for p, s in sites if p in outside and s.var not in known}
    before: dict[Path, tuple[tuple[str, Scalar], ...]] = {}
    for name, t in late.items():
        place = _place_of_declaration(fn, name)
        before[place] = (*before.get(place, ()), (name, t))
    read = _free(fn.body, (), outside)
    dropped = declared - read - writes(fn.body) - {s.var for p, s in sites if p in outside}
    unread = (known | set(late)) - read - _extents(fn, read) - dropped
    written_arrays = {p.name for p in fn.params if p.array} & writes(fn.body)
    silenced = unread - written_arrays - _in_signature(fn)
    return Scopes(outside, before, frozenset(silenced), frozenset(dropped))


def _in_signature(fn: Function) -> set[str]:
    """Names the prototype itself reads, as sizes of later parameters."""
    sizes = re.findall(r"\[([^\]]*)\]", fn.signature)
    found = {word for size in sizes for word in re.findall(r"[A-Za-z_]\w*", size)}
    if not fn.signature:
        shapes = [d for p in fn.params if not p.flat for d in p.shape if d is not None]
        found = {n for d in shapes for n in names(d)}
    return found


def _free(
    body: tuple[Stmt, ...], path: Path, outside: frozenset[Path], *, orelse: bool = False
) -> set[str]:
    """Names that `body` reads, without the variables that loops in it declare themselves."""
    found: set[str] = set()
    for n, s in enumerate(body):
        place = (*path, -1 - n if orelse else n)
        if isinstance(s, For):
            inner = _free(s.body, place, outside) | names(s.hi) | names(s.step)
            found |= names(s.lo) | (inner if place in outside else inner - {s.var})
        elif isinstance(s, If):
            found |= names(s.cond) | _free(s.then, place, outside)
            found |= _free(s.orelse, place, outside, orelse=True)
        elif isinstance(s, While):
            found |= names(s.cond) | _free(s.body, place, outside)
        else:
            found |= reads((s,))
    return found


def _extents(fn: Function, read: set[str]) -> set[str]:
    """Names in the inner extents of flat arrays: addresses are computed with them."""
    touched = read | writes(fn.body)
    flat = (d for p in fn.objects if p.flat and p.name in touched for d in p.shape[1:])
    return {n for d in flat if d is not None for n in names(d)}


def _mentions(s: Stmt) -> set[str]:
    """Scalars a statement names itself (not the statements inside it)."""
    found = {x.name for e in stmt_exprs(s) for x in walk_expr(e) if isinstance(x, Var)}
    return found | {s.var} if isinstance(s, For) else found


def _place_of_declaration(fn: Function, name: str) -> Path:
    """The statement ahead of which the loop variable `name` is declared: in the innermost body
    that holds all its mentions where the first one is a loop that sets it (so that no value comes
    from an earlier iteration of an enclosing loop), else at the top level."""
    paths = [p for p, s in walk(fn.body) if name in _mentions(s)]
    n = 0
    while all(len(p) > n + 1 and p[n] == paths[0][n] for p in paths):
        n += 1
    first = paths[0]
    setter = next(s for p, s in walk(fn.body) if p == first)
    sets = isinstance(setter, For) and setter.var == name and name not in names(setter.lo)
    one_body = len({p[n] < 0 for p in paths}) == 1
    return first if sets and one_body and len(first) == n + 1 else first[:1]
