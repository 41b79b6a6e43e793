"""The C file that replaces the user's function: a drop-in with the user's signature, and a variant
for callers who keep their data on the device.

The drop-in checks at run time what the analysis assumed (arrays do not overlap, recovered shapes
hold, bounds are far from the end of int); where a check fails, or OpenCL does, it runs the user's
own loops, kept in the same file. Nothing is ever wrong, only slower.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from loopxform.codegen import c_program, guard, render, structs
from loopxform.codegen.buffers import Buffer
from loopxform.codegen.cexpr import Dialect
from loopxform.codegen.guard import wide
from loopxform.codegen.host_names import require_names
from loopxform.codegen.plan import KernelPlan, Plan
from loopxform.ir.nodes import Param
from loopxform.ir.types import CHAR, HALF, LONG, ULONG
from loopxform.ir.typing import all_types, symbols
from loopxform.ir.visit import names


@dataclass(frozen=True)
class HostBuffer:
    """An array as the host code sees it: C expressions for its address and size."""

    name: str
    type: str
    pointer: str
    count: str
    read: bool
    written: bool


@dataclass(frozen=True)
class HostTemporary:
    """An array that exists on the device only: C expressions for its elements and their size."""

    name: str
    count: str
    size: str


@dataclass(frozen=True)
class HostKernel:
    """A kernel as the host code launches it. `first` is where its groups are among those of all,
    `groups` C expressions for them, `arguments` C variables in order."""

    name: str
    first: int
    groups: tuple[str, str, str]
    group_shape: tuple[int, int, int]
    arguments: tuple[str, ...]


@dataclass(frozen=True)
class Need:
    """What a device must have: a query of `clGetDeviceInfo`, its type, and the least it may say."""

    name: str
    type: str
    query: str
    least: int


@dataclass(frozen=True)
class HostPlan:
    """Everything templates/host.c.j2 and host.h.j2 print."""

    name: str
    stem: str
    origin: str
    version: str
    kernels: tuple[HostKernel, ...]
    temporaries: tuple[HostTemporary, ...]
    kernel_lines: tuple[str, ...]
    reference: str
    prelude: tuple[str, ...]
    prototype: str
    plain_prototype: str
    cl_prototype: str
    plain_cl_prototype: str
    call: str
    cl_call: str
    buffers: tuple[HostBuffer, ...]
    arguments: tuple[tuple[str, str], ...]
    conditions: tuple[tuple[str, str], ...]
    locals: tuple[tuple[str, str], ...]
    nulls: tuple[str, ...]
    overlaps: tuple[tuple[str, str], ...]
    cl_overlaps: tuple[tuple[str, str], ...]
    takes_for_granted: str
    needs: tuple[Need, ...]
    halves: bool


def host_plan(plan: Plan, *, stem: str, origin: str, version: str) -> HostPlan:
    """Plans the host code of a program; `stem` names its files, `origin` the user's file.

    Raises EmitError where a name of the user's is taken.
    """
    fn, written = plan.start, plan.written
    require_names(fn)
    d = Dialect("c", symbols(fn))
    reference = c_program.function_text(written, name=f"{fn.name}_on_host", openmp=False)
    buffers = tuple(_buffer(b, d) for b in plan.buffers)
    inside = structs.Inside(written, fn)
    conditions, kernels = tuple(_conditions(plan, d)), tuple(_kernels(plan, d))
    temporaries = tuple(_temporary(b, d) for b in plan.temporaries)
    computed = [*(g for k in kernels for g in k.groups), *(t.count for t in temporaries)]
    texts = [reference, *computed, *(b.count for b in buffers), *(c for c, _ in conditions)]
    order = [_name(a) for a in plan.arguments]
    cl_params = ["cl_command_queue lx_queue", *_cl_params(plan, order)]
    cl_prototype = f"int {fn.name}_cl({', '.join(cl_params)})"
    return HostPlan(
        name=fn.name,
        stem=stem,
        origin=origin,
        version=version,
        kernels=kernels,
        temporaries=temporaries,
        kernel_lines=tuple(plan.source.splitlines()),
        reference=reference.rstrip("\n"),
        prelude=tuple(c_program.prelude(written, "\n".join(texts))),
        prototype=c_program.prototype(written),
        plain_prototype="" if fn.structs else _plain(_plain_prototype(plan)),
        cl_prototype=cl_prototype,
        plain_cl_prototype=_plain(cl_prototype),
        call=", ".join(structs.roots(written.params)),
        cl_call="".join(f", {_mem(n, buffers)}" for n in order),
        buffers=buffers,
        arguments=tuple(_argument(a) for a in plan.arguments),
        conditions=conditions,
        locals=tuple(inside.locals()),
        nulls=tuple(inside.nulls()),
        overlaps=tuple(guard.overlaps(fn, guard.meeting(fn), inside.texts)),
        cl_overlaps=tuple(_written_pairs(plan.buffers)),
        takes_for_granted=" && ".join(_takes_for_granted(plan)),
        needs=tuple(_needs(plan)),
        halves=HALF in all_types(plan.start),
    )


def write(plan: HostPlan) -> tuple[str, str]:
    """The text of the C file and of its header."""
    return render.fill("host.c.j2", h=plan), render.fill("host.h.j2", h=plan)


def _takes_for_granted(plan: Plan) -> Iterator[str]:
    """What the kernel's types are on the host, where C leaves it open."""
    types = all_types(plan.start)
    if HALF in types:
        yield "sizeof(_Float16) == 2"
    if types & {LONG, ULONG}:
        yield "sizeof(long) == 8"
    if CHAR in types:
        yield "CHAR_MIN < 0"
    for r in structs.records(plan.start):
        yield from structs.c_layout(r)


def _needs(plan: Plan) -> Iterator[Need]:
    """Nothing is asked about memory that is not used."""
    if plan.local_bytes:
        yield Need("local_bytes", "cl_ulong", "CL_DEVICE_LOCAL_MEM_SIZE", plan.local_bytes)
    yield Need("group_size", "size_t", "CL_DEVICE_MAX_WORK_GROUP_SIZE", plan.group_size)
    if plan.computes_double:
        yield Need("doubles", "cl_device_fp_config", "CL_DEVICE_DOUBLE_FP_CONFIG", 1)


def _name(a: Buffer | Param) -> str:
    return a.param.name if isinstance(a, Buffer) else a.name


def _cl_params(plan: Plan, arguments: list[str]) -> Iterator[str]:
    """The arguments of the kernels, and the scalars that only their launches and the conditions for
    these mention."""
    asked = [*plan.launched, *(c.expr for c in plan.conditions)]
    asked += [b.when for b in plan.buffers if b.when is not None]
    wanted = {*arguments, *(n for e in asked for n in names(e))}
    structs = {b.param.name for b in plan.buffers} - {p.name for p in plan.start.objects}
    for p in plan.start.objects:
        if p.name in wanted:
            yield f"cl_mem {p.name}" if p.array else f"{p.type.c} {p.name}"
        owner = next((n for n in structs if p.name.startswith(f"{n}.")), None)
        if owner is not None:
            structs.discard(owner)
            yield f"cl_mem {owner}"


def _mem(name: str, buffers: tuple[HostBuffer, ...]) -> str:
    return f"lx_mem_{name}" if any(b.name == name for b in buffers) else name


def _argument(a: Buffer | Param) -> tuple[str, str]:
    """An argument of the launches: its name and the type it is passed as."""
    if isinstance(a, Buffer):
        return a.param.name, "cl_mem"
    return a.name, f"cl_{a.type.cl}"


def _buffer(b: Buffer, d: Dialect) -> HostBuffer:
    p = b.param
    pointer = p.name if p.array else f"&{p.name}"
    return HostBuffer(p.name, p.type.c, pointer, guard.count(b, d), b.read, b.written)


def _conditions(plan: Plan, d: Dialect) -> Iterator[tuple[str, str]]:
    """What must hold for the kernel to run, and the words to say so."""
    for c in plan.conditions:
        yield c.text(d), c.why
    for b in plan.buffers:
        if b.when is not None:
            yield wide(b.when, d), f"{b.param.name} is not touched: there is nothing to offload"


def _written_pairs(buffers: Sequence[Buffer]) -> Iterator[tuple[str, str]]:
    """Pairs of device arrays that must be two: one of them is written."""
    for n, a in enumerate(buffers):
        for b in buffers[n + 1 :]:
            if a.written or b.written:
                yield a.param.name, b.param.name


def _temporary(b: Buffer, d: Dialect) -> HostTemporary:
    return HostTemporary(_variable(b), wide(b.count, d), f"sizeof({b.param.type.c})")


def _kernels(plan: Plan, d: Dialect) -> Iterator[HostKernel]:
    own = {b.param.name: _variable(b) for b in plan.temporaries}
    for n, k in enumerate(plan.kernels):
        arguments = tuple(own.get(_name(a), _name(a)) for a in k.arguments)
        yield HostKernel(k.name, 3 * n, _groups(k, d), k.group_shape, arguments)


def _variable(b: Buffer) -> str:
    """What the host code calls an array that is not the user's."""
    return f"lx_mem_{b.param.name}"


def _groups(k: KernelPlan, d: Dialect) -> tuple[str, str, str]:
    x, y, z = (wide(count, d) for count in k.grid)
    return (x, y, z) if k.when is None else (f"({wide(k.when, d)}) ? {x} : 0", y, z)


def _plain(prototype: str) -> str:
    """With the words of C++."""
    return re.sub(r"\b_Bool\b", "bool", prototype)


def _plain_prototype(plan: Plan) -> str:
    """The prototype with plain pointers, for C++ (which has no variable-length arrays)."""
    fn = plan.start

    def text(p: Param) -> str:
        const = "const " if p.const else ""
        return f"{const}{p.type.c} *{p.name}" if p.array else f"{p.type.c} {p.name}"

    returns = fn.returns.c if fn.returns else "void"
    return f"{returns} {fn.name}({', '.join(map(text, fn.params)) or 'void'})"
