"""The C around the kernels of one offloaded part of the user's program: `lx_try_NAME`, which does
on the device what the part does, and `NAME_cl` for callers who keep their data on the device.

`lx_try_NAME` checks at run time what the analysis assumed (arrays do not overlap, recovered shapes
hold, bounds are far from the end of int). Where a check fails, or OpenCL does, it returns 0 and has
changed nothing: its caller runs the user's own loops. Nothing is ever wrong, only slower.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from loopxform.analysis.extent import Extent, explain
from loopxform.analysis.key_checks import KeyCheck
from loopxform.analysis.noted_ends import ENDS
from loopxform.codegen import render, structs
from loopxform.codegen.c import declarations, program
from loopxform.codegen.cexpr import HELPERS, Dialect
from loopxform.codegen.host import control as host_control
from loopxform.codegen.host import divisions, guards, prototypes, runtime, schedule, stays
from loopxform.codegen.host.buffers import Buffer
from loopxform.codegen.host.copied_buffers import HostBuffer, host_buffer
from loopxform.codegen.host.embedded import rows
from loopxform.codegen.host.guards import Condition, wide
from loopxform.codegen.host.in_order import in_order
from loopxform.codegen.host.inspections import host_key_check, inspector_lines
from loopxform.codegen.host.names import require_names
from loopxform.codegen.host.part_plan import HostKernel, HostPlan, HostTemporary
from loopxform.codegen.host.rows import host_rows
from loopxform.codegen.host.work import work_of_host
from loopxform.codegen.plan import Plan
from loopxform.ir.affine import simplify, value_of
from loopxform.ir.device_facts import WARP
from loopxform.ir.nodes import Const, Expr, Function, Param, Struct, Tile
from loopxform.ir.types import CHAR, DOUBLE, HALF, LONG, ULONG
from loopxform.ir.typing import all_types, symbols
from loopxform.ir.visit import names, substitute, walk_expr
from loopxform.targets.copies import Copies


def host_plan(
    plan: Plan,
    *,
    origin: str,
    on_device: bool = True,
    asks_macros: bool = False,
    host: float | None = None,
    functions: Iterable[str] = (),
    inspector: Function | None = None,
    keys: KeyCheck | None = None,
) -> HostPlan:
    """Plans the host code of a program; `origin` is the user's file, `on_device` asks for NAME_cl,
    `asks_macros` says that `lx_same_NAME` stands below. Calls of fewer operations than `host` are
    the host's; None: host and device are compared. `functions` may be spoken of by tuning files.

    Raises EmitError where a name of the user's is taken.
    """
    fn, written = plan.start, plan.written
    require_names(fn)
    thresholds = {x.name: x.value for x in _asked(plan) if x != WARP} if on_device else {}
    table = f"lx_thresholds_{fn.name}"
    variables = {name: f"{table}[{n}].used_number" for n, name in enumerate(thresholds)}
    variables[WARP.name] = f"{WARP.name}()"
    d = Dialect("c", symbols(fn), thresholds=variables, ahead=True)
    reference = program.function_text(
        written, name=f"{fn.name}_on_host", openmp=False, as_written=True
    )
    firsts = _firsts(fn, written)
    buffers = tuple(host_buffer(b, d, firsts.get(b.param.name, "")) for b in plan.buffers)
    inside = structs.Inside(written, fn)
    conditions = tuple((c.text(d), c.why) for c in plan.conditions)
    touched = tuple(guards.undecided(_touched(plan), d))
    temporaries = tuple(_temporary(b, d) for b in plan.temporaries)
    ordered = in_order(plan)
    control = tuple(host_control.lines(plan, variables, {x.number: x.hosted for x in ordered}))
    operations = work_of_host(fn, reassociated=plan.fp.reassociate)
    computed = [*(x for t in temporaries for x in (t.count, t.when)), *control, operations or ""]
    asked = (*(t for b in buffers for t in b.texts), *(c for c, _ in conditions))
    texts = [reference, *computed, *asked, *(x.text for x in ordered)]
    passed = (*plan.arguments, *_computed_from(plan))
    order = [_name(a) for a in passed]
    cl_params = ["cl_command_queue lx_queue", *prototypes.cl_params(plan, order)]
    cl_prototype = f"int {fn.name}_cl({', '.join(cl_params)})" if on_device else ""
    arguments = tuple(_argument(a) for a in passed)
    roots = structs.roots(p for p in written.params if not p.ends)
    divided = divisions.each(plan)
    return HostPlan(
        name=fn.name,
        place=_place(fn, origin),
        shared_lines=rows(plan.shared),
        keys=tuple(runtime.key(d + plan.program(p)) for d, p in zip(divided, plan.programs)),
        divisions=divided,
        options=tuple(_options(plan.macros(kernels)) for kernels in plan.programs),
        origin=origin,
        kernels=tuple(_kernels(plan)),
        control=control,
        temporaries=temporaries,
        flags=tuple(map(host_control.device_variable, schedule.flags(plan.schedule))),
        in_order=ordered,
        reference=reference.rstrip("\n"),
        prelude=tuple(x for x in program.prelude(written, "\n".join(texts)) if x not in HELPERS),
        prototype=declarations.prototype(written),
        plain_prototype="" if fn.structs else prototypes.plain(prototypes.plain_prototype(plan)),
        cl_prototype=cl_prototype,
        plain_cl_prototype=prototypes.plain(cl_prototype),
        try_prototype=prototypes.try_prototype(written),
        call=", ".join(roots),
        cl_call="".join(f", {_passed(name, t, buffers)}" for name, t in arguments),
        buffers=buffers,
        rows=tuple(host_rows(inside, plan.buffers, d)),
        row_numbers=tuple(guards.beside_rows(fn, inside.texts)),
        inspector=() if inspector is None else inspector_lines(inspector),
        key_check=None if keys is None else host_key_check(keys),
        ends=tuple(p.name for p in written.params if p.ends),
        arguments=arguments,
        conditions=conditions,
        asked_scalars=tuple(prototypes.asked_scalars(plan)),
        touched=tuple((c.text(d), c.why) for c in touched),
        locals=tuple(inside.locals()),
        unused=(*roots, *(name for name, _ in inside.locals())),
        unused_by_cl=prototypes.unused_by_cl(plan, order, touched),
        nulls=tuple(inside.nulls()),
        given=tuple(_given(plan, d)),
        overlaps=tuple(guards.overlaps(fn, guards.meeting(fn), inside.texts)),
        cl_overlaps=tuple(guards.written_pairs(plan.buffers)),
        takes_for_granted=" && ".join(_takes_for_granted(plan)),
        struct_roots=stays.struct_roots(inside),
        inspected=stays.inspected(buffers, inspector, keys),
        may_end_half_way=stays.may_end_half_way(schedule.flags(plan.schedule), control),
        local_bytes=plan.local_bytes,
        group_size=plan.group_size,
        doubles=plan.computes_double,
        floats=plan.needs_ieee_floats,
        division=divisions.strictest(plan),
        operations=operations,
        thresholds=tuple(thresholds.items()),
        asks_warp=WARP in _asked(plan),
        tile_products=plan.tile_products,
        group_products=plan.group_products,
        functions=tuple(dict.fromkeys((fn.name, *functions))),
        most_on_host="LX_WEIGHED" if host is None else repr(min(host, runtime.FOREVER)),
        asks_macros=asks_macros,
        halves=HALF in all_types(plan.start),
    )


def entry(plan: HostPlan) -> str:
    """The text of the part: its kernels, `lx_try_NAME`, `NAME_cl`. The text of the runtime stands
    above it, and so do the user's structs and globals that it uses."""
    return render.fill("entry.c.j2", h=plan)


def header(
    plans: Sequence[HostPlan], *, stem: str, origin: str, version: str, drop_in: bool = False
) -> str:
    """`stem.h`: what the written file offers besides the user's functions; `drop_in` says that it
    defines the one function itself."""
    halves = any(h.halves for h in plans)
    # Files of one name in several folders differ in their functions.
    own = _word("_".join([stem, *(h.name for h in plans)]))
    names = {"origin": origin, "version": version, "guard": f"LOOPXFORM_{own}_H"}
    return render.fill("host.h.j2", parts=plans, drop_in=drop_in, halves=halves, **names)


def write(
    plan: HostPlan, *, stem: str, version: str, asked: str, copies: Copies
) -> tuple[str, str]:
    """The text of the C file that replaces one function, below what it asks of macros, and of its
    header. `stem` names both."""
    alone = all(line.startswith("#include <") for line in plan.prelude)
    first = f"{stem}.h" if alone else ""
    tuned, asks_warp = bool(plan.thresholds), plan.asks_warp
    above = runtime.text(
        version,
        header=first,
        tuned=tuned,
        asks_warp=asks_warp,
        has_loops_in_order=bool(plan.in_order),
        tile_products=plan.tile_products,
        group_products=plan.group_products,
        shares=plan.shares,
        copies=copies,
    )
    parts = {"entry": entry(plan), "runtime": above, "header": first}
    text = render.fill("host.c.j2", h=plan, stem=stem, version=version, asked=asked, **parts)
    return text, header([plan], stem=stem, origin=plan.origin, version=version, drop_in=True)


def _firsts(fn: Function, written: Function) -> dict[str, str]:
    """What the inspector says of the first element that is touched of arrays, in C; not of those
    that are declared in rows, which it counts."""
    told = [p.ends for p in written.params if p.ends]
    places = {name: f"{ENDS}[{n}]" for n, name in enumerate(told, len(told) + 1)}
    every = ((p, w) for p, w in zip(fn.objects, written.objects) if w.name in places)
    return {p.name: places[w.name] for p, w in every if p.flat or len(p.shape) == 1}


def _asked(plan: Plan) -> dict[Tile, None]:
    """The thresholds that the host compares with when it chooses, and what the device is asked."""
    found = (x for e in schedule.expressions(plan.schedule) for x in walk_expr(e))
    return dict.fromkeys(x for x in found if isinstance(x, Tile) and x.is_threshold)


def _place(fn: Function, origin: str) -> str:
    """The file and line that is shown where the part runs on the host."""
    return f"{origin}:{fn.origin.loc.line}" if fn.origin.loc else origin


def _word(text: str) -> str:
    return re.sub(r"\W", "_", text)


def _passed(name: str, kind: str, buffers: Sequence[HostBuffer]) -> str:
    return f"lx_mem_{name}" if any(b.name == name for b in buffers) else f"({kind}){name}"


def _takes_for_granted(plan: Plan) -> Iterator[str]:
    """What the kernel's types are on the host, where C leaves it open."""
    types = all_types(plan.start)
    if HALF in types:
        yield "sizeof(_Float16) == 2"
    if types & {LONG, ULONG}:
        yield "sizeof(long) == 8"
    if CHAR in types:
        yield "CHAR_MIN < 0"
    if DOUBLE in types:
        yield "sizeof(1.0) == 8"
    for r in structs.records(plan.start):
        yield from structs.c_layout(r)


def _name(a: Buffer | Param) -> str:
    return a.param.name if isinstance(a, Buffer) else a.name


def _computed_from(plan: Plan) -> tuple[Param, ...]:
    """The scalars that no kernel takes and the control flow of the host is computed from."""
    asked = [*plan.launched, *(c.expr for k in plan.kernels for c in k.conditions)]
    wanted = {n for e in asked for n in names(e)} - {_name(a) for a in plan.arguments}
    return tuple(p for p in plan.start.objects if p.name in wanted)


def _argument(a: Buffer | Param) -> tuple[str, str]:
    """An argument of the launches: its name and the type it is passed as."""
    if isinstance(a, Buffer):
        return a.param.name, "cl_mem"
    return a.name, f"cl_{a.type.cl}"


def _touched(plan: Plan) -> Iterator[Condition]:
    """Where each kernel is launched once: the arrays that they are about have elements. Those that
    may not be there are not asked, nor those that are touched when others are not (in one of two
    branches), where the kernels do that under the condition that the loops do it under."""
    there: dict[str, Expr] = {p.name: Const(1) for p in plan.start.objects if p.tests}
    alike = len({b.when for b in plan.buffers}) == 1
    for b in plan.buffers if plan.is_list else ():
        when = None if b.when is None else simplify(substitute(b.when, there))
        if when is None or value_of(when) is not None:
            continue
        if alike or not _is_touched_when(plan.function, b):
            yield Condition(when, f"{b.param.name} is not touched: there is nothing to offload")


def _is_touched_when(fn: Function, b: Buffer) -> bool:
    """Whether a mapped program touches an array no sooner than the user's does: tiles are copied
    as a whole, those that are fetched ahead also where no iteration follows. Structs are touched
    for certain only where all those members are that the program uses."""
    if isinstance(b.param, Struct):
        return False
    found = explain(fn, b.param.name)
    return isinstance(found, Extent) and found.when == b.when


def _given(plan: Plan, d: Dialect) -> Iterator[tuple[str, str]]:
    tested = (p.tests for p in plan.start.objects if p.tests)
    arrays = {b.param.name for b in plan.buffers}
    for name, c in zip(tested, guards.given(plan.start)):
        if name in arrays:
            yield c.text(d), c.why


def _temporary(b: Buffer, d: Dialect) -> HostTemporary:
    variable = host_control.device_variable(b.param.name)
    when = "" if b.when is None else wide(b.when, d)
    size = f"sizeof({b.param.type.c})"
    return HostTemporary(variable, wide(b.count, d), size, when, b.like)


def _kernels(plan: Plan) -> Iterator[HostKernel]:
    own = {b.param.name: host_control.device_variable(b.param.name) for b in plan.temporaries}
    programs = {n: p for p, kernels in enumerate(plan.programs) for n in kernels}
    next_line, firsts = len(rows(plan.shared)), dict[str, int]()
    for n, k in enumerate(plan.kernels):
        arguments = tuple(own.get(_name(a), _name(a)) for a in k.arguments)
        changing, lines = tuple(p.name for p in k.changing), rows(k.text)
        first = firsts.setdefault(k.text, next_line)
        text = lines if first == next_line else ()
        next_line += len(text)
        shape = k.group_shape
        yield HostKernel(k.name, text, first, len(lines), programs[n], shape, arguments, changing)


def _options(macros: dict[str, int]) -> str:
    """How a program is built with its macros."""
    return "".join(f" -D{name}={value}" for name, value in macros.items())
