"""Kernels of one work-item whose loops are long, as C that the host may run in their place.

When the program runs, it compares what the work-item takes with what the host takes, the copies of
what the loops read and of what they write included (`lx_is_hosts` in versions.c.j2).
Arrays stay on the device otherwise; only the parts of them that such loops touch come and go.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from loopxform.codegen.c import program
from loopxform.codegen.cexpr import Dialect
from loopxform.codegen.host.buffers import Buffer, Part, buffer_of
from loopxform.codegen.host.control import Hosted, device_variable
from loopxform.codegen.host.copied_buffers import HostBuffer, host_buffer
from loopxform.codegen.host.work import LONGEST, work_of_host
from loopxform.codegen.opencl.kernel_plan import KernelPlan
from loopxform.codegen.plan import Plan
from loopxform.errors import EmitError
from loopxform.ir.affine import value_of
from loopxform.ir.nodes import Const, Copy, Decl, For, Function, Opaque, Param, Stmt
from loopxform.ir.types import HALF, Space
from loopxform.ir.typing import all_types, symbols
from loopxform.ir.visit import loads, map_body, names, stmt_exprs, substitute_body, walk, writes
from loopxform.records import record
from loopxform.transforms.edges.bounds import fixed_trips

SHORT = 64
"""Iterations up to which a loop is not worth copies."""


@record
class InOrder:
    """A kernel of one work-item in C: its number, the function that does the same (`text`), what of
    each array it takes and gives back, the C variables of the arrays on the device and of the
    scalars with their types, the `arguments` of the function, and how many operations the host
    does, an expression of C."""

    number: int
    name: str
    text: str
    buffers: tuple[HostBuffer, ...]
    devices: tuple[str, ...]
    scalars: tuple[tuple[str, str], ...]
    arguments: str
    operations: str

    @property
    def hosted(self) -> Hosted:
        """What stands in place of the launch."""
        copies = sum(x is not None for b in self.buffers for x in (b.into, b.back))
        copied = " + ".join(_bytes(self)) or "0"
        given = [*self.devices, *(name for _, name in self.scalars)]
        call = f"lx_by_host_{self.name}({', '.join(['lx_job', *given])})"
        return Hosted(f"{self.operations}, {copies}, {copied}", call)


def _bytes(x: InOrder) -> Iterator[str]:
    """How many bytes of each array are copied, as doubles in C."""
    for b in x.buffers:
        for part in (b.into, b.back):
            if part is not None:
                text = f"lx_greater(0, (double)({part.end}) - (double)({part.begin}))"
                text = f"(double)sizeof({b.type}) * {text}"
                yield f"(({part.when}) ? {text} : 0)" if part.when else text


def in_order(plan: Plan) -> tuple[InOrder, ...]:
    """Those of a program that the host can run as well."""
    found = (_in_order(plan, k, n) for n, k in enumerate(plan.kernels))
    return tuple(x for x in found if x is not None)


def _in_order(plan: Plan, k: KernelPlan, number: int) -> InOrder | None:
    fn = _plain(k)
    if fn is None or not any(map(_is_long, (s for _, s in walk(fn.body)))):
        return None
    operations = work_of_host(fn)
    if operations is None:
        return None
    known = {b.param.name: b for b in (*plan.buffers, *plan.temporaries)}
    touched = [_touched(fn, p, known[p.name]) for p in fn.params if p.array]
    d = Dialect("c", symbols(fn), ahead=True)
    buffers = tuple(host_buffer(b, d) for b in touched if b is not None)
    if len(buffers) < len(touched):
        return None
    own = {b.param.name for b in plan.temporaries}
    name = k.name.removeprefix("lx_")
    made = InOrder(
        number,
        name,
        program.function_text(fn, name=f"lx_in_order_{name}", openmp=False).rstrip("\n"),
        buffers,
        tuple(device_variable(b.name) if b.name in own else b.name for b in buffers),
        tuple((f"cl_{p.type.cl}", p.name) for p in fn.params if not p.array),
        ", ".join(f"(void *){p.name}" if p.array else p.name for p in fn.params),
        operations,
    )
    return made if len(made.hosted.price) <= LONGEST else None


def _touched(fn: Function, p: Param, whole: Buffer) -> Buffer | None:
    """What a function takes and gives back of an array: all that the program touches, where it is
    not known how much of that is its own; None where that cannot be said in its scalars."""
    try:
        return buffer_of(fn, p)
    except EmitError:
        every = Part(Const(0), whole.count)
        back = every if p.name in writes(fn.body) else None
        made = replace(whole, param=p, when=None, into=every, back=back)
    given = {q.name for q in fn.params}
    return made if all(names(e) <= given for e in made.sizes) else None


def _is_long(s: Stmt) -> bool:
    fixed = fixed_trips(s) if isinstance(s, For) else None
    trips = None if fixed is None else fixed[0].value
    return isinstance(s, For) and (trips is None or trips > SHORT)


def _plain(k: KernelPlan) -> Function | None:
    """What the work-item does, as a function of arrays and numbers; None where there are several,
    or the host's C could not say it."""
    alone = k.mapping.group_size == 1 and all(value_of(e) == 1 for e in k.grid)
    alone = alone and k.when is None
    used = {a.param.name if isinstance(a, Buffer) else a.name for a in k.arguments}
    used -= {k.asks} - writes(k.function.body)
    objects = [p for p in k.function.objects if p.name in used or p in k.changing]
    strange = any(p.rows or p.pointer or p.tests or p.values or "." in p.name for p in objects)
    if not alone or strange or k.function.structs or HALF in all_types(k.function):
        return None
    if not used <= {p.name for p in objects}:
        return None
    for _, s in walk(k.function.body):
        staged = isinstance(s, Decl) and (s.space is Space.LOCAL or s.shape)
        tables = {x.array for e in stmt_exprs(s) for x in loads(e)} - used
        if staged or tables or isinstance(s, Copy | Opaque):
            return None
    params = tuple(
        Param(p.name, p.type, p.shape, array=p.array, flat=p.array, restrict=p.array)
        for p in objects
    )
    body = map_body(k.function.body, _unmapped)
    return replace(
        k.function, params=params, globals=(), body=body, start=None, as_written=None, signature=""
    )


def _unmapped(s: Stmt) -> tuple[Stmt, ...]:
    """The one iteration of a mapped loop."""
    if not isinstance(s, For) or s.level is None:
        return (s,)
    return substitute_body(s.body, {s.var: s.lo})
