"""Guards that can never fail are dropped; so are limits of copies that are never reached."""

from __future__ import annotations

from dataclasses import replace

from loopxform.analysis.context import always
from loopxform.ir.nodes import Bin, Const, Copy, Function, If, Slice
from loopxform.ir.visit import Path, replace_at, walk
from loopxform.transforms.bounds import conjunction, conjuncts


def drop_proven(fn: Function, within: Path) -> Function:
    """`fn` without the conditions, inside the statement at `within`, that are proven to hold."""
    for path, s in reversed(list(walk(fn.body))):
        if path[: len(within)] != within:
            continue
        if isinstance(s, If) and not s.orelse:
            kept = [c for c in conjuncts(s.cond) if not always(fn, path, c)]
            if len(kept) < len(conjuncts(s.cond)):
                new = (replace(s, cond=conjunction(kept)),) if kept else s.then
                fn = replace_at(fn, path, new)
        elif isinstance(s, Copy):
            slices = tuple(_unlimited(fn, path, x) for x in s.slices)
            fn = replace_at(fn, path, (replace(s, slices=slices),))
    return fn


def _unlimited(fn: Function, path: Path, s: Slice) -> Slice:
    if s.limit is None:
        return s
    end = Bin("+", s.lo, Const(1) if s.size is None else s.size)
    return Slice(s.lo, s.size) if always(fn, path, Bin("<=", end, s.limit)) else s
