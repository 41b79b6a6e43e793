"""The prototypes of the functions around a part, and what they take."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from loopxform.codegen.c import declarations
from loopxform.codegen.host import guards
from loopxform.codegen.host.guards import Condition
from loopxform.codegen.plan import Plan
from loopxform.ir.nodes import Function, Param
from loopxform.ir.visit import names


def try_prototype(written: Function) -> str:
    """That of the user's function, but that it says whether the device did the work."""
    name = f"lx_try_{written.name}"
    return f"int {name}{declarations.prototype(written, name).partition(name)[2]}"


def cl_params(plan: Plan, arguments: list[str]) -> Iterator[str]:
    """The arguments of the kernels, and the scalars that only their launches and the conditions for
    these mention."""
    wanted = {*arguments, *_asked(plan), *_touching(plan)}
    structs = {b.param.name for b in plan.buffers} - {p.name for p in plan.start.objects}
    for p in plan.start.objects:
        if p.name in wanted:
            yield f"cl_mem {p.name}" if p.array else f"{p.type.c} {p.name}"
        owner = next((n for n in structs if p.name.startswith(f"{n}.")), None)
        if owner is not None:
            structs.discard(owner)
            yield f"cl_mem {owner}"


def unused_by_cl(plan: Plan, arguments: list[str], touched: Iterable[Condition]) -> tuple[str, ...]:
    """Those of the scalars that say whether arrays are touched, where nothing asks it (`touched` is
    what is asked): which kernels are launched is a matter of the call."""
    asked = {n for c in touched for n in names(c.expr)}
    unused = _touching(plan) - {*arguments, *_asked(plan), *asked}
    return tuple(p.name for p in plan.start.objects if not p.array and p.name in unused)


def _asked(plan: Plan) -> set[str]:
    """What launches and the conditions for these mention."""
    asked = [*plan.launched, *(c.expr for c in (*plan.conditions, *guards.given(plan.start)))]
    return {n for e in asked for n in names(e)}


def _touching(plan: Plan) -> set[str]:
    """What says whether arrays are touched."""
    return {n for b in plan.buffers if b.when is not None for n in names(b.when)}


def asked_scalars(plan: Plan) -> Iterator[tuple[str, str]]:
    """The scalars that the conditions mention: type and name."""
    wanted = {n for c in plan.conditions for n in names(c.expr)}
    for p in plan.start.objects:
        if p.name in wanted:
            yield p.type.c, p.name


def plain(prototype: str) -> str:
    """With the words of C++."""
    return re.sub(r"\b_Bool\b", "bool", prototype)


def plain_prototype(plan: Plan) -> str:
    """The prototype with plain pointers, for C++ (which has no variable-length arrays)."""
    fn = plan.start

    def text(p: Param) -> str:
        const = "const " if p.const else ""
        return f"{const}{p.type.c} *{p.name}" if p.array else f"{p.type.c} {p.name}"

    returns = fn.returns.c if fn.returns else "void"
    params = [text(p) for p in fn.params if not p.tests]
    return f"{returns} {fn.name}({', '.join(params) or 'void'})"
