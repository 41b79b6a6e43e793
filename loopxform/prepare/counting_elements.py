"""Elements that count others, as scalars of the function.

    *n = 0; for (i...) if (c) { out[*n] = a[i]; (*n)++; }
        ->  k = 0; for (i...) if (c) { out[k] = a[i]; k++; }  *n = k;

The count runs through the loop as any scalar does. The element is all that is used of its array,
and the function touches it whatever the data are, so that it is there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from loopxform.analysis.accesses import touched
from loopxform.ir.affine import value_of
from loopxform.ir.names import fresh
from loopxform.ir.nodes import (
    Assign,
    Copy,
    Decl,
    Function,
    Load,
    Opaque,
    Param,
    Return,
    Stmt,
    Var,
)
from loopxform.ir.visit import loads, map_exprs, names, stmt_exprs, walk, writes


def with_counting_elements(fn: Function) -> Function:
    """The function with such elements in scalars; itself where it has none."""
    if any(isinstance(s, Opaque | Return | Copy) for _, s in walk(fn.body)):
        return fn
    for p in fn.params:
        if p.array and p.type.is_integer and p.name in _counting(fn) and _is_one_element(fn, p):
            made = with_counting_elements(_in_scalar(fn, p))
            return replace(made, start=None, as_written=fn.as_written or fn)
    return fn


def _counting(fn: Function) -> frozenset[str]:
    """The arrays that are stored to, and whose elements say where others are stored."""
    targets = (s.target for _, s in walk(fn.body) if isinstance(s, Assign))
    stores = (t for t in targets if isinstance(t, Load))
    naming = {x.array for t in stores for e in t.index for x in loads(e)}
    return writes(fn.body) & naming


def _is_one_element(fn: Function, p: Param) -> bool:
    """Whether a function uses the first element of an array alone, and that for certain."""
    used = [x for _, s in walk(fn.body) for x in _all_loads(s) if x.array == p.name]
    first = all(value_of(i) == 0 for x in used for i in x.index)
    return first and any(_touches(s, p.name) for s in fn.body)


def _all_loads(s: Stmt) -> Iterator[Load]:
    """Every element that a statement names, what it stores included."""
    if isinstance(s, Assign) and isinstance(s.target, Load):
        yield s.target
    for e in stmt_exprs(s):
        yield from loads(e)


def _touches(s: Stmt, array: str) -> bool:
    """Whether an assignment touches the element whatever the data are."""
    if not isinstance(s, Assign):
        return False
    own = isinstance(s.target, Load) and s.target.array == array
    every = (t for e in stmt_exprs(s) for t in touched(e))
    return own or any(isinstance(x, Load) and x.array == array and not g for x, g in every)


def _in_scalar(fn: Function, p: Param) -> Function:
    count = Var(fresh(fn, f"{p.name}_count"))
    used = [x for _, s in walk(fn.body) for x in _all_loads(s) if x.array == p.name]
    element, origin = replace(used[0], origin=fn.origin), fn.origin
    body = map_exprs(fn.body, lambda e: count if isinstance(e, Load) and e.array == p.name else e)
    begun = Assign(count, element, label="S", origin=origin)
    around = (
        Decl(count.name, p.type, origin=origin),
        *(() if _is_set_first(fn, p.name) else (begun,)),
        *body,
        Assign(element, count, label="S", origin=origin),
    )
    return replace(fn, body=around)


def _is_set_first(fn: Function, array: str) -> bool:
    """Whether an element of an array is set before anything reads it."""
    first = next(
        s for s in fn.body if any(x.array == array for _, y in walk((s,)) for x in _all_loads(y))
    )
    if not isinstance(first, Assign) or first.op or not isinstance(first.target, Load):
        return False
    return first.target.array == array and array not in names(first.value)
