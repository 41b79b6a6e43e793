"""Every decision a template or a launcher needs, taken here from the mapped program.

`program_plan` is the whole way from a `Function` whose loops are mapped to hardware to the text of
its OpenCL kernels and the facts of their launches.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from loopxform.codegen import cexpr, describe, halves, render, routines, schedule, structs
from loopxform.codegen.buffers import Buffer, buffers_of
from loopxform.codegen.cexpr import Dialect
from loopxform.codegen.collective import LOAD, OwnNames
from loopxform.codegen.dialect import KernelDialect
from loopxform.codegen.guard import Condition, conditions, in_int
from loopxform.codegen.kernel import KernelWriter
from loopxform.codegen.mapping import Mapping, mapping_of
from loopxform.codegen.opencl_words import free_name
from loopxform.codegen.schedule import Item, Launch
from loopxform.codegen.tables import kernel_table
from loopxform.codegen.whole import require_whole
from loopxform.errors import EmitError
from loopxform.ir.affine import simplify, value_of
from loopxform.ir.constants import tables
from loopxform.ir.evaluate import evaluate
from loopxform.ir.names import used_names
from loopxform.ir.nodes import Bin, Const, Copy, Expr, For, Function, Param, Struct
from loopxform.ir.records import Record
from loopxform.ir.types import DOUBLE, HALF, INT, Scalar
from loopxform.ir.typing import all_types, symbols
from loopxform.ir.visit import loops, names, reads, walk, writes
from loopxform.transforms.bounds import trip_count
from loopxform.transforms.pipeline import obstacles

BUILTIN_KERNEL_PREFIX = "lx_"


@dataclass(frozen=True)
class KernelPlan:
    """One kernel: text, arguments in order, launch shape, memory use. It is launched where `when`
    holds (None: always). `changing` are the scalars of the host that differ between launches, and
    `conditions` what must hold of them at each."""

    name: str
    text: str
    function: Function
    mapping: Mapping
    arguments: tuple[Buffer | Param, ...]
    grid: tuple[Expr, Expr, Expr]
    when: Expr | None
    changing: tuple[Param, ...] = ()
    conditions: tuple[Condition, ...] = ()

    @property
    def computed(self) -> tuple[Expr, ...]:
        """What a launch computes from the scalars."""
        return tuple(e for e in (*self.grid, self.when) if e is not None)

    @property
    def group_shape(self) -> tuple[int, int, int]:
        x, y, z = (value_of(e) or 1 for e in self.mapping.group_shape)
        return x, y, z

    @property
    def local_bytes(self) -> int:
        return sum(t.bytes for t in self.mapping.tiles)

    def groups(self, values: dict[str, int]) -> tuple[int, int, int]:
        """Groups in x, y, z for given scalars (0 where there is nothing to do)."""
        if self.when is not None and not evaluate(self.when, values):
            return 0, 0, 0
        x, y, z = (max(0, evaluate(count, values)) for count in self.grid)
        return x, y, z


@dataclass(frozen=True)
class Plan:
    """The kernels of a program in text order, how the host launches them, and what they share: the
    text, the arguments (of the user's function), and arrays that exist on the device only. `start`
    is the user's program, `function` the mapped one, both with plain names for numbers and pointers
    in structs; `written` is the program as it is."""

    source: str
    function: Function
    start: Function
    kernels: tuple[KernelPlan, ...]
    arguments: tuple[Buffer | Param, ...]
    temporaries: tuple[Buffer, ...]
    written: Function
    schedule: tuple[Item, ...]

    @property
    def is_list(self) -> bool:
        """Whether each kernel is launched once, in order."""
        return all(isinstance(x, Launch) and not x.changing for x in self.schedule)

    @cached_property
    def plain_names(self) -> dict[str, str]:
        """By the name that the user's program has for it (`q.n`)."""
        return structs.plain_names(self.written)

    @property
    def computes_double(self) -> bool:
        return DOUBLE in all_types(self.function)

    @property
    def buffers(self) -> tuple[Buffer, ...]:
        return tuple(a for a in self.arguments if isinstance(a, Buffer))

    @property
    def scalars(self) -> tuple[Param, ...]:
        return tuple(a for a in self.arguments if isinstance(a, Param))

    @property
    def local_bytes(self) -> int:
        """What the most demanding kernel needs."""
        return max(k.local_bytes for k in self.kernels)

    @property
    def group_size(self) -> int:
        """Work-items in the largest group."""
        return max(k.mapping.group_size for k in self.kernels)

    @property
    def launched(self) -> tuple[Expr, ...]:
        """What the launches, and the control flow around them, compute from the scalars."""
        grids = [e for k in self.kernels for e in k.computed]
        control = schedule.expressions(self.schedule)
        return (*grids, *control, *(b.count for b in self.temporaries))

    @property
    def sizes(self) -> tuple[Expr, ...]:
        """All that is computed from the scalars to run the kernels."""
        return (*(e for b in self.buffers for e in b.sizes), *self.launched)

    @cached_property
    def conditions(self) -> tuple[Condition, ...]:
        """What must hold for the launches to mean what the user's loops mean."""
        given = {p.name for p in self.start.objects}
        sizes = [e for e in self.sizes if names(e) <= given]
        spans = [s for k in self.kernels for s in _spans(k.mapping) if names(s) <= given]
        d = Dialect("c", symbols(self.start))
        asked = conditions(self.start, self.function, sizes)
        return (*asked, *(in_int(simplify(s), d) for s in spans))


def program_plan(
    fn: Function, start: Function, *, header: tuple[str, ...] = (), contract: bool = True
) -> Plan:
    """Plans the kernels of the mapped program `fn`, derived from `start` (the user's program, which
    says what may be touched). `contract` lets the device fuse a*b + c.

    Raises EmitError where the program cannot run as kernels, or an array has no known extent.
    """
    require_whole(start)
    texts, written = structs.plain_names(start), start
    start, fn = (structs.plain_locals(structs.plain(x, texts)) for x in (start, fn))
    items, temporaries = schedule.schedule(fn), schedule.temporaries(fn)
    found = schedule.launches(items)
    names = tuple(f"{BUILTIN_KERNEL_PREFIX}{fn.name}{_suffix(n)}" for n in range(len(found)))
    taken = frozenset({*names, *dict(fn.tiles)})
    constants = [p for p in tables(start) if p in _needed(fn)]
    fixed = {p.name: free_name(p.name, taken) for p in constants}
    arguments = buffers_of(start, [p for p in _needed(fn) if p not in constants])
    arrays = {a.param.name: a for a in (*arguments, *temporaries) if isinstance(a, Buffer)}
    made = (_kernel(x, name, taken, arrays, fixed) for x, name in zip(found, names))
    kernels = tuple(_checked(k, start) for k in made)
    plain = cexpr.dialect_of(start, "opencl")
    called = routines.texts(start, "opencl")
    helpers = halves.helpers("\n".join([*called, *(k.text for k in kernels)]))
    text = render.kernels(
        header=(*header, *_launches(kernels)) if header else (),
        pragmas=_pragmas(fn, contract=contract),
        structs=[structs.kernel_definition(r) for r in _records(arguments)],
        routines=[line for t in (*helpers, *called) for line in t.splitlines()],
        tiles=_tiles_used(fn),
        vectors=any(f"{LOAD}(" in k.text for k in kernels),
        constants=[kernel_table(p, fixed[p.name], plain) for p in constants],
        kernels=[k.text for k in kernels],
    )
    return Plan(text, fn, start, kernels, arguments, temporaries, written, items)


def _suffix(n: int) -> str:
    return f"_{n + 1}" if n else ""


def _kernel(
    launch: Launch,
    name: str,
    taken: frozenset[str],
    arrays: dict[str, Buffer],
    fixed: dict[str, str],
) -> KernelPlan:
    """One kernel; names in `taken` mean something else in its file, those in `fixed` are constants
    there."""
    fn = launch.function
    for site in loops(fn):
        for obstacle in obstacles(fn, site) if site.loop.stages > 1 else ():
            raise EmitError(obstacle.message, loc=obstacle.loc, help=obstacle.remedy)
    mapping = mapping_of(fn)
    inside = structs.places(fn)
    needed = [p for p in _needed(fn) if p.name not in fixed]
    owners = [inside[p.name].struct.name if p.name in inside else p.name for p in needed]
    arguments = tuple(dict.fromkeys(arrays.get(n, p) for n, p in zip(owners, needed)))
    own = _own_names(fn)
    renamed = _renamed(fn, taken, fixed)
    dialect = _dialect(fn, mapping, own, renamed)
    writer = KernelWriter(mapping, dialect, own)
    body = writer.lines(tuple(s for s in fn.body if isinstance(s, For)))
    written = writes(fn.body)
    text = render.kernel(
        name=name,
        group_text=", ".join(cexpr.expr(e, dialect) for e in mapping.group_shape),
        parameters=[_parameter(a, dialect, written) for a in arguments],
        locals=[_local(t.decl.name, t.shape, t.decl.type.memory, dialect) for t in mapping.tiles],
        ids=_ids(fn, mapping, own, dialect),
        body=[line if line.startswith("#") else "  " + line for line in body],
    )
    grid = _grid(mapping)
    return KernelPlan(name, text, fn, mapping, arguments, grid, launch.when, launch.changing)


def _checked(k: KernelPlan, start: Function) -> KernelPlan:
    """With what must hold at each launch, of scalars that differ between launches."""
    if not k.changing:
        return k
    own = {p.name for p in k.changing}
    others = tuple(p for p in start.params if p.name not in own)
    around = replace(start, params=(*others, *k.changing), assumes=())
    d = Dialect("c", symbols(around))
    asked = conditions(around, k.function, k.computed)
    found = (*asked, *(in_int(simplify(s), d) for s in _spans(k.mapping)))
    return replace(k, conditions=tuple(c for c in found if names(c.expr) & own))


def _spans(mapping: Mapping) -> Iterator[Expr]:
    """What loops over groups count that do not begin at 0."""
    for g in mapping.grid:
        if value_of(g.lo) != 0:
            yield Bin("+", Bin("-", g.hi, g.lo), g.step)


def _needed(fn: Function) -> list[Param]:
    """The objects that a program uses."""
    used = reads(fn.body) | writes(fn.body)
    return [p for p in fn.objects if p.name in used or _in_shape(fn, p, used)]


def _launches(kernels: tuple[KernelPlan, ...]) -> tuple[str, ...]:
    """The launches in the comment on top."""
    if len(kernels) == 1:
        return _launch(kernels[0].mapping)
    return tuple(f"{k.name}: {line}" for k in kernels for line in _launch(k.mapping))


def _launch(mapping: Mapping) -> tuple[str, ...]:
    """The launch in the comment on top."""
    return (
        f"launch: {describe.grid(mapping)}, each {describe.group(mapping)}",
        f"local memory of a group: {describe.local_memory(mapping)}",
    )


def _in_shape(fn: Function, p: Param, used: frozenset[str]) -> bool:
    """Scalars that only the shape of an array mentions are needed for its addresses."""
    shapes = [d for q in fn.objects if q.name in used for d in q.shape[1:] if d is not None]
    return not p.array and any(p.name in names(d) for d in shapes)


def _renamed(fn: Function, taken: frozenset[str], fixed: dict[str, str]) -> dict[str, str]:
    """The names of the user's in the kernel, each another; most keep their own."""
    every = used_names(fn) - set(dict(fn.tiles))
    mine = taken | set(fixed.values())
    out = {n: n for n in every if n not in fixed and free_name(n, mine) == n} | fixed
    for n in sorted(every - set(out)):
        out[n] = free_name(n, mine | set(out.values()))
    return out


def _records(arguments: tuple[Buffer | Param, ...]) -> tuple[Record, ...]:
    owners = (a.param for a in arguments if isinstance(a, Buffer))
    return tuple(dict.fromkeys(s.type for s in owners if isinstance(s, Struct)))


def _own_names(fn: Function) -> OwnNames:
    """Names for what the kernel adds, none of them the user's."""
    taken = used_names(fn)
    tiles = (s.target for _, s in walk(fn.body) if isinstance(s, Copy) and s.collective)
    registers: dict[str, str] = {}
    for tile in dict.fromkeys(tiles):
        registers[tile] = free_name(f"{tile}_next", taken | set(registers.values()))
    free = {n: free_name(n, taken) for n in OwnNames.WANTED}
    return OwnNames(**free, next=registers)


def _dialect(
    fn: Function, mapping: Mapping, own: OwnNames, renamed: dict[str, str]
) -> KernelDialect:
    base = cexpr.dialect_of(fn, "opencl")
    threads: dict[str, Expr] = {}
    for t in mapping.threads:
        threads[t.loop.var] = t.value(own.local_ids[t.dimension])
    types = {**symbols(fn), **dict.fromkeys((*own.local_ids, *own.counters), INT)}
    return KernelDialect(
        "opencl",
        types,
        base.linear,
        names=renamed,
        tiles={t.decl.name: t for t in mapping.tiles},
        kept=mapping.kept,
        threads=threads,
        places=base.places,
        narrow=frozenset(n for g in mapping.grid for n in g.narrow),
        packed=_packed(fn, mapping),
    )


def _packed(fn: Function, mapping: Mapping) -> frozenset[str]:
    """The arrays of halves that work-items share."""
    shared = [p for p in fn.objects if p.shape] + [t.decl for t in mapping.tiles]
    return frozenset(x.name for x in shared if x.type == HALF) - {p.name for p in tables(fn)}


def _pragmas(fn: Function, *, contract: bool) -> list[str]:
    out = ["#pragma OPENCL EXTENSION cl_khr_fp64 : enable"] if DOUBLE in all_types(fn) else []
    return [*out, f"#pragma OPENCL FP_CONTRACT {'ON' if contract else 'OFF'}"]


def _tiles_used(fn: Function) -> list[tuple[str, int]]:
    return list(fn.tiles)


def _parameter(a: Buffer | Param, d: KernelDialect, written: frozenset[str]) -> str:
    if isinstance(a, Param):
        return f"const {d.type_name(a.type)} {d.name(a.name)}"
    name, t = a.param.name, a.param.type
    const = "" if any(n == name or n.startswith(f"{name}.") for n in written) else "const "
    kind = t.memory if isinstance(t, Scalar) else structs.kernel_name(t)
    return f"__global {const}{kind} *restrict {d.name(name)}"


def _local(name: str, shape: tuple[Expr, ...], kind: str, d: KernelDialect) -> str:
    sizes = "".join(f"[{cexpr.expr(e, d)}]" for e in shape)
    return f"__local {kind} {d.name(name)}{sizes} __attribute__((aligned(16)));"


def _ids(fn: Function, mapping: Mapping, own: OwnNames, d: KernelDialect) -> list[str]:
    """The work-item's numbers, as far as they are used."""
    used = {t.dimension for t in mapping.threads}
    lanes = mapping.lanes
    out = [f"const int {own.local_ids[n]} = (int)get_local_id({n});" for n in sorted(used)]
    if lanes or any(isinstance(s, Copy) and s.collective for _, s in walk(fn.body)):
        text = "(uint)get_local_id(0)"
        x, y, _ = mapping.group_shape
        if 1 in used or 2 in used:
            width = cexpr.expr(x, d, 13)
            row = "get_local_id(1)"
            if 2 in used:
                row = f"(get_local_id(2) * {cexpr.expr(y, d, 13)} + get_local_id(1))"
            text = f"(uint)({row} * {width} + get_local_id(0))"
        item = f"const uint {own.item} = {text};"
        out = [item, *_arranged(mapping, lanes, own, out)] if lanes else [*out, item]
    return out


def _arranged(
    mapping: Mapping, lanes: tuple[int, int], own: OwnNames, plain: list[str]
) -> list[str]:
    """The numbers of a work-item whose neighbours are a rectangle."""
    x, y = lanes
    width, height = (value_of(e) or 1 for e in mapping.group_shape[:2])
    item = own.item if 2 not in {t.dimension for t in mapping.threads} else None
    item = item or f"({own.item} % {width * height})"
    across = width // x
    block = f"{item} / {x * y}"
    column = f"{block} % {across} * {x} + " if across > 1 else ""
    row = f"{block} / {across}" if across > 1 else block
    row = f"{row} * {y} + " if height > y else ""
    return [
        f"const int {own.local_x} = (int)({column}{item} % {x});",
        f"const int {own.local_y} = (int)({row}{item} % {x * y} / {x});",
        *plain[2:],
    ]


def _grid(mapping: Mapping) -> tuple[Expr, Expr, Expr]:
    """Groups in x, y, z. Where several loops share a dimension, none has fewer than no iterations:
    the product of two negative counts is no count."""
    found: list[list[Expr]] = [[], [], []]
    for loop in mapping.grid:
        assert loop.level is not None
        found[loop.level.dimension].append(trip_count(loop))
    x, y, z = (_product(counts) for counts in found)
    return x, y, z


def _product(counts: list[Expr]) -> Expr:
    if len(counts) < 2:
        return counts[0] if counts else Const(1)
    out, *rest = (Bin("max", c, Const(0)) for c in counts)
    for c in rest:
        out = Bin("*", out, c)
    return out
