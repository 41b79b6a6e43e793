"""Subscripts that may be below 0 as far as the text says, where scalars of the caller's decide.

    for (i = lo; i < hi; i++) a[i] = 0;        assumes lo >= 0

What the host copies begins at the first element, so there must be none in front of it. The written
program asks the scalars, and runs the user's loops where a pointer leads into the middle of an
array.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

from loopxform.analysis.extent import conditions_from_zero
from loopxform.budget import Exhausted, part, within
from loopxform.ir.nodes import Function

SHARE = 1 / 4
"""Of the time that is left, for what is to be assumed."""


def with_subscripts_from_zero(fn: Function, read: Function | None = None) -> Function:
    """The function under the assumption that no subscript is below 0, as far as a condition on
    scalars says that, and the time suffices; `read` is it with loops on data as loops of the tree,
    where it has such."""
    read = read or fn
    with suppress(Exhausted), within(part(SHARE)):
        for name in [p.name for p in fn.objects if p.array and not p.tests]:
            asked = tuple(e for e in conditions_from_zero(read, name) if e not in fn.assumes)
            if asked:
                fn, read = (replace(x, assumes=(*x.assumes, *asked)) for x in (fn, read))
    return fn
