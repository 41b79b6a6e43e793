"""How programs divide floats, in the words of templates/runtime.c.j2.

LX_RELAXED    in any way that is quick
LX_DEVICE     as the device does
LX_ROUNDED    rounded correctly where the device can
LX_EXACT      rounded correctly, or not on the device
"""

from __future__ import annotations

from loopxform.codegen.plan import Plan


def each(plan: Plan) -> tuple[str, ...]:
    """That of each program; all kernels of one divide in the same way."""
    return tuple(f"LX_{plan.kernels[first].division.upper()}" for first, *_ in plan.programs)


def strictest(plan: Plan) -> str:
    """That of the most demanding kernel."""
    if plan.needs_rounding:
        return "LX_EXACT"
    found = each(plan)
    return next(x for x in ("LX_ROUNDED", "LX_DEVICE", "LX_RELAXED") if x in found)
