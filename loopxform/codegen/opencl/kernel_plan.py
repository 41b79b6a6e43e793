"""One kernel: its text, its arguments, and how it is launched."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from loopxform.budget import spend
from loopxform.codegen import cexpr, render, structs
from loopxform.codegen.host.buffers import Buffer
from loopxform.codegen.host.guards import Condition
from loopxform.codegen.host.schedule import Launch
from loopxform.codegen.opencl.cooperative_copy import OwnNames
from loopxform.codegen.opencl.dialect import KernelDialect
from loopxform.codegen.opencl.kernel import KernelWriter
from loopxform.codegen.opencl.launch import Mapping, mapping_of
from loopxform.codegen.opencl.layout import hinted, in_rows
from loopxform.codegen.opencl.local_tile import LocalTile
from loopxform.codegen.opencl.quick_quotients import START
from loopxform.codegen.opencl.tile_starts import with_starts
from loopxform.codegen.opencl.words import free_name
from loopxform.errors import EmitError
from loopxform.floating_point import CONTRACT, Division, FloatingPoint
from loopxform.ir.accuracy import is_relaxable
from loopxform.ir.affine import value_of
from loopxform.ir.constants import tables
from loopxform.ir.evaluate import evaluate
from loopxform.ir.names import used_names
from loopxform.ir.nodes import (
    Assign,
    Bin,
    Const,
    Copy,
    Expr,
    For,
    Function,
    If,
    Load,
    Param,
    Stmt,
    Var,
)
from loopxform.ir.permitted import permitted
from loopxform.ir.tensor_tiles import BANKS, MATRIX_ROWS, TENSOR_TILES, TensorTile
from loopxform.ir.types import HALF, INT, Scalar
from loopxform.ir.typing import symbols
from loopxform.ir.visit import loads, names, reads, stmt_exprs, walk, writes
from loopxform.ir.warp_groups import ALIGNED
from loopxform.records import record
from loopxform.transforms.edges.bounds import trip_count
from loopxform.transforms.latency.vectors import VECTOR_BYTES
from loopxform.transforms.marks import stale


@record
class KernelPlan:
    """One kernel: text, the macros that it is built with, arguments in order, launch shape, memory
    use. It is launched where `when` holds (None: always). `changing` are the scalars of the host
    that differ between launches, and `conditions` what must hold of them at each. `fp` is what is
    permitted of floating point. It does nothing where the flag that it `asks` is not above 0."""

    name: str
    text: str
    function: Function
    mapping: Mapping
    arguments: tuple[Buffer | Param, ...]
    grid: tuple[Expr, Expr, Expr]
    when: Expr | None
    changing: tuple[Param, ...] = ()
    conditions: tuple[Condition, ...] = ()
    macros: tuple[tuple[str, int], ...] = ()
    fp: FloatingPoint = CONTRACT
    asks: str = ""

    @property
    def computed(self) -> tuple[Expr, ...]:
        """What a launch computes from the scalars."""
        return tuple(e for e in (*self.grid, self.when) if e is not None)

    @property
    def division(self) -> Division:
        """How it divides floats and takes their roots."""
        if not self.fp.approximate:
            return "rounded"
        anything = self.fp.contract and self.fp.reassociate
        return "relaxed" if anything and is_relaxable(self.function) else "device"

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


def kernel_plan(
    launch: Launch,
    name: str,
    taken: frozenset[str],
    arrays: dict[str, Buffer],
    fixed: dict[str, str],
    *,
    several: bool = False,
    fp: FloatingPoint = CONTRACT,
) -> KernelPlan:
    """One kernel, or one of `several` with other sizes; names in `taken` mean something else in its
    file, those in `fixed` are constants there. `fp` is what is permitted of floating point."""
    spend()
    fn = with_starts(launch.function)
    for obstacle in stale(fn):
        raise EmitError(obstacle.message, loc=obstacle.loc, help=obstacle.remedy)
    mapping = mapping_of(fn)
    inside = structs.places(fn)
    needed = [p for p in used_objects(fn) if p.name not in fixed]
    owners = [inside[p.name].struct.name if p.name in inside else p.name for p in needed]
    asked = [arrays[launch.asks]] if launch.asks else []
    arguments = tuple(dict.fromkeys([*(arrays.get(n, p) for n, p in zip(owners, needed)), *asked]))
    own = _own_names(fn)
    renamed = _renamed(fn, taken, fixed)
    may = permitted(fp, fn)
    dialect = replace(
        _dialect(fn, mapping, own, renamed),
        several=several,
        approximate=may.approximate and may.reassociate,
    )
    writer = KernelWriter(mapping, dialect, own, permitted=may)
    body = writer.lines(tuple(s for s in fn.body if isinstance(s, For)))
    if launch.asks:
        told = launch.asks in writes(fn.body) and mapping.group_size > 1
        all_asked = ["barrier(CLK_GLOBAL_MEM_FENCE);"] if told else []
        body = [f"if ({dialect.name(launch.asks)}[0] < 1)", "  return;", *all_asked, *body]
    written, passed = writes(fn.body), _passed(fn)
    tile = _tensor_tile(fn)
    text = render.kernel(
        sub_group=tile.wide if tile is not None and tile.function else 0,
        head=in_rows(f"void {name}", [_parameter(a, dialect, written, passed) for a in arguments]),
        group_text=", ".join(cexpr.expr(e, dialect) for e in mapping.group_shape),
        locals=[_local(t, dialect) for t in mapping.tiles],
        ids=[*_ids(fn, mapping, own, dialect), *_started(own, body)],
        body=[line if line.startswith("#") else "  " + line for line in body],
    )
    grid = _grid(mapping)
    return KernelPlan(
        name,
        hinted(text),
        fn,
        mapping,
        arguments,
        grid,
        launch.when,
        launch.changing,
        macros=fn.tiles,
        asks=launch.asks,
    )


def used_objects(fn: Function) -> list[Param]:
    """The objects that a program uses: not a parameter of which nothing but a loop has the name."""
    used = _free(fn.body) | writes(fn.body)
    return [p for p in fn.objects if p.name in used or _in_shape(fn, p, used)]


def _free(body: tuple[Stmt, ...]) -> frozenset[str]:
    """What is read, but for the variables of the loops around it."""
    free = frozenset[str]()
    for s in body:
        own = frozenset(n for e in stmt_exprs(s) for n in names(e))
        match s:
            case For():
                free |= own | (_free(s.body) - {s.var})
            case If():
                free |= own | _free(s.then) | _free(s.orelse)
            case _:
                free |= reads((s,))
    return free


def _in_shape(fn: Function, p: Param, used: frozenset[str]) -> bool:
    """Scalars that only the shape of an array mentions are needed for its addresses."""
    every = [q for q in fn.objects if q.name in used]
    stood_for = [q for q in fn.objects if any(q.name == x.of for x in every)]
    shapes = [d for q in (*every, *stood_for) for d in q.shape[1:] if d is not None]
    shapes += [e for q in every for e in q.at]
    return not p.array and any(p.name in names(d) for d in shapes)


def _renamed(fn: Function, taken: frozenset[str], fixed: dict[str, str]) -> dict[str, str]:
    """The names of the user's in the kernel, each another; most keep their own."""
    every = used_names(fn) - set(dict(fn.tiles))
    mine = taken | set(fixed.values())
    out = {n: n for n in every if n not in fixed and free_name(n, mine) == n} | fixed
    for n in sorted(every - set(out)):
        out[n] = free_name(n, mine | set(out.values()))
    return out


def _own_names(fn: Function) -> OwnNames:
    """Names for what the kernel adds, none of them the user's."""
    taken = used_names(fn)
    tiles = (s.target for _, s in walk(fn.body) if isinstance(s, Copy) and s.collective)
    registers: dict[str, str] = {}
    for tile in dict.fromkeys(tiles):
        registers[tile] = free_name(f"{tile}_next", taken | set(registers.values()))
    places = {
        tile: (free_name(f"{tile}_to", taken), free_name(f"{tile}_from", taken))
        for tile in registers
    }
    free = {n: free_name(n, taken) for n in OwnNames.WANTED}
    return OwnNames(**free, next=registers, places=places)


def _dialect(
    fn: Function, mapping: Mapping, own: OwnNames, renamed: dict[str, str]
) -> KernelDialect:
    base = cexpr.dialect_of(fn, "opencl")
    threads: dict[str, Expr] = {}
    for t in mapping.threads:
        threads[t.loop.var] = t.value(own.local_ids[t.dimension])
    types = {
        **symbols(fn),
        **dict.fromkeys((*own.local_ids, *own.counters, own.term, own.shift), INT),
        **dict.fromkeys((own.lane, own.lane_x, own.lane_y), INT),
    }
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
        constants=frozenset(p.name for p in tables(fn)),
        windows={p.name: p.at for p in fn.objects if isinstance(p, Param) and p.at},
        alone=mapping.group_size == 1,
    )


def _packed(fn: Function, mapping: Mapping) -> frozenset[str]:
    """The arrays of halves that work-items share."""
    shared = [p for p in fn.objects if p.shape] + [t.decl for t in mapping.tiles]
    return frozenset(x.name for x in shared if x.type == HALF) - {p.name for p in tables(fn)}


def _passed(fn: Function) -> frozenset[str]:
    """Arrays of which some elements are read, and others stored at places that data name. Behind
    `restrict` pointers PoCL 3.1 lets such reads pass such stores."""
    stores = [s for _, s in walk(fn.body) if isinstance(s, Assign) and not s.atomic]
    computed = {s.target.name for s in stores if isinstance(s.target, Var)}
    return reads(fn.body) & frozenset(
        s.target.array
        for s in stores
        if isinstance(s.target, Load)
        and any([*loads(e)] or names(e) & computed for e in s.target.index)
    )


def _parameter(
    a: Buffer | Param, d: KernelDialect, written: frozenset[str], passed: frozenset[str]
) -> str:
    if isinstance(a, Param):
        return f"const {d.type_name(a.type)} {d.name(a.name)}"
    name, t = a.param.name, a.param.type

    def is_in(arrays: frozenset[str]) -> bool:
        return any(n == name or n.startswith(f"{name}.") for n in arrays)

    const = "" if is_in(written) else "const "
    kind = t.memory if isinstance(t, Scalar) else structs.kernel_name(t)
    return f"__global {const}{kind} *{'' if is_in(passed) else 'restrict '}{d.name(name)}"


def _local(t: LocalTile, d: KernelDialect) -> str:
    """A tile, on a multiple of the widest vector; with rows whose elements are moved within the
    banks, on one of those: kernels with asynchronous copies take up to half as long again else; on
    a multiple of 8 rows of pieces that warps read together."""
    sizes = "".join(f"[{cexpr.expr(e, d)}]" for e in t.shape)
    least = ALIGNED if t.pieces else BANKS if t.moved else VECTOR_BYTES
    name = f"{t.decl.type.memory} {d.name(t.decl.name)}"
    return f"__local {name}{sizes} __attribute__((aligned({least})));"


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
        tile = _tensor_tile(fn)
        if tile is not None and tile.function:
            text = f"LX_ITEM_{tile.wide}({text})"
        item = f"const uint {own.item} = {text};"
        out = [item, *_arranged(mapping, lanes, own, out)] if lanes else [*out, item]
    return [*out, *_in_warp(fn, mapping, own)]


def _started(own: OwnNames, body: list[str]) -> Iterator[str]:
    """What loops that run without rare cases go by."""
    if any(re.search(rf"\b{own.quick}\b", line) for line in body):
        yield f"uint {own.quick} = {START}();"


def _in_warp(fn: Function, mapping: Mapping, own: OwnNames) -> Iterator[str]:
    """Which term of products of tiles a work-item reads, and how far its column is from that of
    its first element (`codegen.opencl.tensor_product`); and of which work-items it says where rows
    of matrices lie (`codegen.opencl.matrices`)."""
    tile = _tensor_tile(fn)
    if tile is not None:
        warp = tile.high * tile.wide
        yield f"const int {own.term} = (int)({own.item} % {tile.wide});"
        if tile.function:
            return
        row = f"(int)({own.item} % {warp} / {tile.wide})"
        yield f"const int {own.shift} = {row} - {tile.own_columns} * {own.term};"
        operands = (t for t in mapping.tiles if t.packed == 1 and (t.moved or t.pieces))
        if tile.matrices and mapping.lanes and any(operands):
            column, row = _corner(mapping, mapping.lanes, own.item)
            row = f"{row and row + ' + '}{own.item} % {MATRIX_ROWS}"
            yield f"const int {own.lane} = (int)({own.item} % {warp});"
            yield f"const int {own.lane_x} = (int)({column or '0'}), {own.lane_y} = (int)({row});"
        if any(t.pieces for t in mapping.tiles):
            first = f"{own.item} / {tile.warps * warp} * {tile.warps * tile.high}"
            yield f"const int {own.group_y} = (int)({first});"


def _tensor_tile(fn: Function) -> TensorTile | None:
    """By which a kernel multiplies tiles, if it does."""
    names = (s.tensor for _, s in walk(fn.body) if isinstance(s, For) and s.tensor)
    return next((TENSOR_TILES[name] for name in names), None)


def _arranged(
    mapping: Mapping, lanes: tuple[int, int], own: OwnNames, plain: list[str]
) -> list[str]:
    """The numbers of a work-item whose neighbours are a rectangle."""
    x, y = lanes
    width, height = (value_of(e) or 1 for e in mapping.group_shape[:2])
    item = own.item if 2 not in {t.dimension for t in mapping.threads} else None
    item = item or f"({own.item} % {width * height})"
    column, row = _corner(mapping, lanes, item)
    across, down = f"{item} % {x}", f"{item} % {x * y} / {x}"
    if mapping.paired:
        across, down = f"{item} / 2 % {x}", f"{item} % {x * y} / {2 * x} * 2 + {item} % 2"
    return [
        f"const int {own.local_x} = (int)({column and column + ' + '}{across});",
        f"const int {own.local_y} = (int)({row and row + ' + '}{down});",
        *plain[2:],
    ]


def _corner(mapping: Mapping, lanes: tuple[int, int], item: str) -> tuple[str, str]:
    """The numbers of the first work-item of such a rectangle; "" where all have the same."""
    x, y = lanes
    width, height = (value_of(e) or 1 for e in mapping.group_shape[:2])
    across = width // x
    block = f"{item} / {x * y}"
    column = f"{block} % {across} * {x}" if across > 1 else ""
    row = f"{block} / {across}" if across > 1 else block
    return column, f"{row} * {y}" if height > y else ""


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
