"""How programs divide floats, in the words of templates/runtime.c.j2.

LX_DEVICE     as the device does
LX_ROUNDED    rounded correctly where the device can
LX_EXACT      rounded correctly, or not on the device
"""

from __future__ import annotations

from loopxform.codegen.plan import Plan


def each(plan: Plan) -> tuple[str, ...]:
    """That of each program; all kernels of one are permitted the same."""
    first = (plan.kernels[kernels[0]].fp for kernels in plan.programs)
    return tuple("LX_DEVICE" if fp.approximate else "LX_ROUNDED" for fp in first)


def strictest(plan: Plan) -> str:
    """That of the most demanding kernel."""
    if plan.needs_rounding:
        return "LX_EXACT"
    return "LX_ROUNDED" if "LX_ROUNDED" in each(plan) else "LX_DEVICE"
