"""Which clause would give a shared variable back its sequential meaning.

reduction(op: x)   all the loop does with x is update it with op
private(x)         each iteration writes x before it reads it, and nobody reads it after
lastprivate(x)     as private, and the last iteration's value is read after
linear(x: c)       each iteration adds c to x, once
"""

from __future__ import annotations

from loopxform.analysis.liveness import live_after
from loopxform.analysis.openmp.construct import Construct
from loopxform.analysis.openmp.linear import advance
from loopxform.analysis.privatise import privacy
from loopxform.analysis.reductions import updates
from loopxform.analysis.region import visible


def cure(c: Construct, name: str) -> str | None:
    """The clause that would cure a race on `name`, or None."""
    found = visible(c.fn, c.path).get(name)
    scalar = (found is None or not found.rank) and "." not in name
    updated = updates(c.fn, c.path, name)
    if updated is not None and len(updated.ops) == 1 and not updated.rounds:
        (op,) = updated.ops
        if scalar:
            return f"reduction({op}:{name})"
        if op not in ("min", "max", "&&", "||"):
            return "#pragma omp atomic on the update"
    step = advance(c.fn, c.path, name) if scalar else None
    if step is not None:
        return f"linear({name})" if step[1] == 1 else f"linear({name}:{step[1]})"
    known = privacy(c.fn, c.path, name)
    if known.exposed is not None or (known.caller and not scalar):
        return None
    named = c.directive.named
    if named is not None and name.partition(".")[0] not in named:
        return None
    if "." in name:
        return None if needed_after(c, name) else f"firstprivate({name.partition('.')[0]})"
    return f"lastprivate({name})" if needed_after(c, name) else f"private({name})"


def needed_after(c: Construct, name: str) -> bool:
    """Whether the value `name` has after the loop may be used; that of a global always may."""
    if any(p.name == name for p in c.fn.globals):
        return True
    return c.later(name) and live_after(c.fn, c.path, name) is not False
