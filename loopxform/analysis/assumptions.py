"""What a verdict takes for granted about the arguments of the function.

Two arrays (or an array and a variable of the file) that may be the same memory are taken to be
apart; conditions on scalars were asked for by the front end (`Function.assumes`). Generated code
checks both at run time.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from loopxform.ir.nodes import Assign, Const, Decl, Function, Load, Param, Stmt
from loopxform.ir.printer import expr_text
from loopxform.ir.types import may_alias
from loopxform.ir.visit import names, stmt_exprs, walk, walk_expr, writes


def may_share(a: Param, b: Param, *, typed: bool = True) -> bool:
    """Whether two objects of a function may be the same memory, `restrict` aside: not two objects
    of the file or two members of a struct, but a pointer at file scope points anywhere. `const`
    helps where it is the object that nobody may write (C11 6.7.3p6), not a pointer to it. A
    number behind a pointer (`s->n`) or a variable of the file is only read through pointers to its
    type, to bytes, or to others that its union holds (C11 6.5p7), where code is `typed`."""
    if a.part_of and a.part_of == b.part_of:
        return False
    if any(p.const and is_object(p) for p in (a, b)):
        return False
    if a.array and b.array:
        return not (is_object(a) and is_object(b))
    pointer, number = (a, b) if a.array or (a.pointer and not b.array) else (b, a)
    if not (pointer.array or pointer.pointer):
        return False
    if not (number.pointer or _is_reached(number, pointer)):
        return False
    return not typed or number.united or may_alias(pointer.type, number.type)


def _is_reached(number: Param, pointer: Param) -> bool:
    """Whether a variable of the file may be what a pointer points to, and change."""
    return number.is_global and not (number.const or number.by_name or is_object(pointer))


def may_overlap(a: Param, b: Param, *, typed: bool = True) -> bool:
    """As may_share, without what `restrict` forbids: two such pointers, or one and a variable."""
    pointers = [p for p in (a, b) if p.array]
    forbidden = pointers and all(p.restrict for p in pointers)
    return may_share(a, b, typed=typed) and not forbidden


def is_object(p: Param) -> bool:
    """A variable or an array of the file, as against a pointer."""
    return p.is_global and not p.pointer


def apart(fn: Function) -> Iterator[tuple[Param, Param]]:
    """Pairs of objects the analysis takes to be apart: they may overlap, and one is written."""
    written = writes(fn.body)
    for a, b in combinations(fn.objects, 2):
        if may_overlap(a, b, typed=fn.strict_aliasing) and (a.name in written or b.name in written):
            yield a, b


def assumptions(fn: Function) -> tuple[str, ...]:
    """Everything taken for granted about the arguments, in words."""
    pairs = [f"{a.name} and {b.name} do not overlap" for a, b in apart(fn)]
    return (*pairs, *_of_pointers(fn, None), *map(expr_text, fn.assumes))


def assumed(fn: Function, *body: Stmt) -> tuple[str, ...]:
    """What the verdict on one loop takes for granted, or what is known of several statements."""
    changed = writes(body)
    used = changed | names_in(*body)
    sizes = {n for p in fn.objects if p.name in used for e in p.shape if e for n in names(e)}
    pairs = [
        f"{a.name} and {b.name} do not overlap"
        for a, b in apart(fn)
        if {a.name, b.name} <= used and (a.name in changed or b.name in changed)
    ]
    local = [text for text in _of_pointers(fn, used) if text not in pairs]
    rows = (p.name for p in fn.objects if p.rows and p.name in changed)
    several = [f"no rows of {name} overlap" for name in rows if _has_several(name, *body)]
    return (
        *pairs,
        *local,
        *several,
        *(expr_text(e) for e in fn.assumes if names(e) & (used | sizes)),
    )


def _has_several(name: str, *body: Stmt) -> bool:
    """Whether statements may touch more than one row of an array."""
    found = {x.index[:-1] for _, s in walk(body) for x in _loads(s) if x.array == name}
    return len(found) > 1 or any(not isinstance(i, Const) for index in found for i in index)


def _loads(s: Stmt) -> Iterator[Load]:
    exprs = (s.target, *stmt_exprs(s)) if isinstance(s, Assign) else stmt_exprs(s)
    return (x for e in exprs for x in walk_expr(e) if isinstance(x, Load))


def _of_pointers(fn: Function, used: frozenset[str] | None) -> Iterator[str]:
    """A pointer of the function may point to its arrays too; one of the file, or in a struct, to
    those whose address somebody knows. `used` are the names that count."""
    pointers = [p for p in fn.objects if p.local or _is_kept(p)]
    found = (s for _, s in walk(fn.body) if isinstance(s, Decl) and s.shape) if pointers else ()
    arrays = {s.name: s.exposed for s in found}
    written = writes(fn.body)
    for p in pointers:
        for a, exposed in arrays.items():
            matters = {p.name, a} & written and (used is None or {p.name, a} <= used)
            if matters and (p.local or exposed):
                yield f"{p.name} and {a} do not overlap"


def _is_kept(p: Param) -> bool:
    """Whether it is a pointer in memory, which others may have set meanwhile."""
    named = (p.is_global and p.pointer) or (p.is_member and not p.part_of)
    return p.array and (named or p.rows)


def settable(p: Param) -> bool:
    """Whether a statement that is not modelled may have the name stand for other memory: a pointer
    in memory or of the function, or what lies behind one in a struct."""
    return p.array and (p.local or "." in p.part_of or _is_kept(p))


def names_in(*body: Stmt) -> frozenset[str]:
    """Every name that statements mention, what they only set apart."""
    return frozenset(n for _, s in walk(body) for e in stmt_exprs(s) for n in names(e))
