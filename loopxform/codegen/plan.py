"""Every decision a template or a launcher needs, taken here from the mapped program.

`program_plan` is the whole way from a `Function` whose loops are mapped to hardware to the text of
its OpenCL kernels and the facts of their launches.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from loopxform.codegen import cexpr, describe, launches, render
from loopxform.codegen.buffers import Buffer, buffer_of
from loopxform.codegen.cexpr import Dialect
from loopxform.codegen.collective import CopyPlan, OwnNames
from loopxform.codegen.dialect import KernelDialect, free_name
from loopxform.codegen.guard import Condition, conditions, in_int
from loopxform.codegen.kernel import KernelWriter
from loopxform.codegen.launches import Launch
from loopxform.codegen.mapping import Mapping, mapping_of
from loopxform.codegen.whole import require_whole
from loopxform.ir.affine import simplify, value_of
from loopxform.ir.evaluate import evaluate
from loopxform.ir.names import used_names
from loopxform.ir.nodes import Bin, Const, Expr, For, Function, Param
from loopxform.ir.types import DOUBLE, INT
from loopxform.ir.typing import symbols
from loopxform.ir.visit import names, reads, writes
from loopxform.transforms.bounds import trip_count

BUILTIN_KERNEL_PREFIX = "lx_"


@dataclass(frozen=True)
class KernelPlan:
    """One kernel: text, arguments in order, launch shape, memory use. It is launched where `when`
    holds (None: always)."""

    name: str
    text: str
    function: Function
    mapping: Mapping
    arguments: tuple[Buffer | Param, ...]
    grid: tuple[Expr, Expr, Expr]
    when: Expr | None

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
    """The kernels of a program, launched in order, and what they share: the text, the arguments
    (of the user's function), and arrays that exist on the device only. `start` is the user's
    program, `function` the mapped one."""

    source: str
    function: Function
    start: Function
    kernels: tuple[KernelPlan, ...]
    arguments: tuple[Buffer | Param, ...]
    temporaries: tuple[Buffer, ...]

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
        """What the launches themselves compute from the scalars."""
        grids = [e for k in self.kernels for e in (*k.grid, k.when) if e is not None]
        return (*grids, *(b.count for b in self.temporaries))

    @property
    def sizes(self) -> tuple[Expr, ...]:
        """All that is computed from the scalars to run the kernels."""
        counts = [e for b in self.buffers for e in (b.count, b.when) if e is not None]
        return (*counts, *self.launched)

    @cached_property
    def conditions(self) -> tuple[Condition, ...]:
        """What must hold for the launches to mean what the user's loops mean."""
        asked = conditions(self.start, self.function, self.sizes)
        d = Dialect("c", symbols(self.start))
        moved = [g for k in self.kernels for g in k.mapping.grid if value_of(g.lo) != 0]
        spans = [Bin("+", Bin("-", g.hi, g.lo), g.step) for g in moved]
        return (*asked, *(in_int(simplify(s), d) for s in spans))


def program_plan(
    fn: Function, start: Function, *, header: tuple[str, ...] = (), contract: bool = True
) -> Plan:
    """Plans the kernels of the mapped program `fn`, derived from `start` (the user's program, which
    says what may be touched). `contract` lets the device fuse a*b + c.

    Raises EmitError where the program cannot run as kernels, or an array has no known extent.
    """
    require_whole(start)
    found, temporaries = launches.launches(fn), launches.temporaries(fn)
    names = tuple(f"{BUILTIN_KERNEL_PREFIX}{fn.name}{_suffix(n)}" for n in range(len(found)))
    taken = frozenset({*names, *dict(fn.tiles)})
    arrays = {p.name: buffer_of(start, p) for p in _needed(fn) if p.array}
    arrays |= {b.param.name: b for b in temporaries}
    kernels = tuple(_kernel(x, name, taken, arrays) for x, name in zip(found, names))
    text = render.kernels(
        header=(*header, *_launches(kernels)) if header else (),
        pragmas=_pragmas(fn, contract=contract),
        tiles=_tiles_used(fn),
        kernels=[k.text for k in kernels],
    )
    arguments = tuple(arrays.get(p.name, p) for p in _needed(fn))
    return Plan(text, fn, start, kernels, arguments, temporaries)


def _suffix(n: int) -> str:
    return f"_{n + 1}" if n else ""


def _kernel(
    launch: Launch, name: str, taken: frozenset[str], arrays: dict[str, Buffer]
) -> KernelPlan:
    """One kernel; names in `taken` mean something else in its file."""
    fn = launch.function
    mapping = mapping_of(fn)
    arguments = tuple(arrays.get(p.name, p) for p in _needed(fn))
    own = _own_names(fn)
    renamed = {n: free_name(n, taken) for n in used_names(fn) - set(dict(fn.tiles))}
    dialect = _dialect(fn, mapping, own, renamed)
    writer = KernelWriter(mapping, dialect, own, _print_copy)
    body = writer.lines(tuple(s for s in fn.body if isinstance(s, For)))
    written = writes(fn.body)
    text = render.kernel(
        name=name,
        group_text=", ".join(cexpr.expr(e, dialect) for e in mapping.group_shape),
        parameters=[_parameter(a, dialect, written) for a in arguments],
        locals=[_local(t.decl.name, t.shape, t.decl.type.cl, dialect) for t in mapping.tiles],
        ids=_ids(mapping, own, dialect),
        body=[line if line.startswith("#") else "  " + line for line in body],
    )
    return KernelPlan(name, text, fn, mapping, arguments, _grid(mapping), launch.when)


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


def _own_names(fn: Function) -> OwnNames:
    """Names for what the kernel adds, none of them the user's."""
    taken = used_names(fn)
    return OwnNames(*(free_name(n, taken) for n in OwnNames.WANTED))


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
        order={t.decl.name: t.order for t in mapping.tiles},
        kept=mapping.kept,
        threads=threads,
    )


def _print_copy(plan: CopyPlan) -> str:
    return render.collective_copy(plan)


def _pragmas(fn: Function, *, contract: bool) -> list[str]:
    types = [p.type for p in fn.objects] + list(symbols(fn).values())
    out = ["#pragma OPENCL EXTENSION cl_khr_fp64 : enable"] if DOUBLE in types else []
    return [*out, f"#pragma OPENCL FP_CONTRACT {'ON' if contract else 'OFF'}"]


def _tiles_used(fn: Function) -> list[tuple[str, int]]:
    return list(fn.tiles)


def _parameter(a: Buffer | Param, d: KernelDialect, written: frozenset[str]) -> str:
    if isinstance(a, Param):
        return f"const {d.type_name(a.type)} {d.name(a.name)}"
    const = "" if a.param.name in written else "const "
    return f"__global {const}{d.type_name(a.param.type)} *restrict {d.name(a.param.name)}"


def _local(name: str, shape: tuple[Expr, ...], kind: str, d: KernelDialect) -> str:
    sizes = "".join(f"[{cexpr.expr(e, d)}]" for e in shape)
    return f"__local {kind} {d.name(name)}{sizes} __attribute__((aligned(16)));"


def _ids(mapping: Mapping, own: OwnNames, d: KernelDialect) -> list[str]:
    """The work-item's numbers, as far as they are used."""
    used = {t.dimension for t in mapping.threads}
    out = [f"const int {own.local_ids[n]} = (int)get_local_id({n});" for n in sorted(used)]
    if mapping.tiles:
        text = "(uint)get_local_id(0)"
        x, y, _ = mapping.group_shape
        if 1 in used or 2 in used:
            width = cexpr.expr(x, d, 13)
            row = "get_local_id(1)"
            if 2 in used:
                row = f"(get_local_id(2) * {cexpr.expr(y, d, 13)} + get_local_id(1))"
            text = f"(uint)({row} * {width} + get_local_id(0))"
        out.append(f"const uint {own.item} = {text};")
    return out


def _grid(mapping: Mapping) -> tuple[Expr, Expr, Expr]:
    """Groups in x, y, z."""
    out: list[Expr] = [Const(1)] * 3
    for loop in mapping.grid:
        assert loop.level is not None
        n, count = loop.level.dimension, trip_count(loop)
        out[n] = count if value_of(out[n]) == 1 else Bin("*", out[n], count)
    return out[0], out[1], out[2]
