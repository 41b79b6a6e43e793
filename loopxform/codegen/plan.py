"""Every decision a template or a launcher needs, taken here from the mapped program.

`program_plan` is the whole way from a `Function` whose loops are mapped to hardware to the text of
its OpenCL kernels and the facts of their launches.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property, reduce

from loopxform.codegen import cexpr, render, routines, structs
from loopxform.codegen.cexpr import Dialect
from loopxform.codegen.host import schedule
from loopxform.codegen.host.buffers import Buffer, buffers_of
from loopxform.codegen.host.guards import Condition, conditions, in_int, strictest, undecided
from loopxform.codegen.host.schedule import Item, Launch
from loopxform.codegen.host.temporaries import temporaries
from loopxform.codegen.host.turns_ahead import turned_ahead
from loopxform.codegen.opencl import (
    atomics,
    describe,
    halves,
    look_back,
    quick_quotients,
    quotients,
    record_vectors,
    root_quotients,
    turned_tile,
)
from loopxform.codegen.opencl.families import families, named
from loopxform.codegen.opencl.kernel_plan import KernelPlan, kernel_plan, used_objects
from loopxform.codegen.opencl.launch import Mapping
from loopxform.codegen.opencl.layout import joined, unbraced
from loopxform.codegen.opencl.used_macros import (
    group_instructions,
    instructions,
    used_macros,
    vector_macros,
)
from loopxform.codegen.opencl.words import free_name
from loopxform.codegen.tables import kernel_table
from loopxform.codegen.whole import require_whole
from loopxform.floating_point import CONTRACT, FloatingPoint
from loopxform.ir.accuracy import divides_floats
from loopxform.ir.affine import simplify, value_of
from loopxform.ir.constants import tables
from loopxform.ir.nodes import Bin, Expr, Function, Param, Struct
from loopxform.ir.permitted import permitted
from loopxform.ir.records import Record
from loopxform.ir.tensor_tiles import Instruction
from loopxform.ir.types import DOUBLE, FLOAT, HALF
from loopxform.ir.typing import all_types, symbols
from loopxform.ir.visit import names
from loopxform.ir.warp_groups import GroupInstruction
from loopxform.records import record

BUILTIN_KERNEL_PREFIX = "lx_"


@record
class Plan:
    """The kernels of a program in text order, how the host launches them, and what they share: the
    arguments (of the user's function), and arrays that exist on the device only. `start` is the
    user's program, `function` the mapped one, both with plain names for numbers and pointers in
    structs; `written` is the program as it is. Each kernel is built together with the others of
    its group of `programs`, from what stands above all kernels (`shared`), their macros and their
    texts; `comment` opens the file that holds all of them. `fp` is what is permitted of floating
    point in one of them."""

    comment: str
    shared: str
    function: Function
    start: Function
    kernels: tuple[KernelPlan, ...]
    arguments: tuple[Buffer | Param, ...]
    temporaries: tuple[Buffer, ...]
    written: Function
    schedule: tuple[Item, ...]
    fp: FloatingPoint

    @property
    def source(self) -> str:
        """The file of all kernels, with the macros of the first of those that share a text."""
        return self.comment + self.shared + "\n".join(self._texts())

    def _texts(self) -> Iterator[str]:
        """Each text once, below macros that are others than before."""
        defined: dict[str, int] = {}
        members: dict[str, list[KernelPlan]] = {}
        for k in self.kernels:
            members.setdefault(k.text, []).append(k)
        for text, kernels in members.items():
            macros = dict(kernels[0].macros)
            new = {n: v for n, v in macros.items() if defined.get(n) != v}
            lines = [f"/* {line} */" for line in _builds(kernels)]
            lines += (x for n, v in new.items() for x in _redefined(n, v, again=n in defined))
            defined |= macros
            yield "\n".join([*lines, text]) if lines else text

    @cached_property
    def programs(self) -> tuple[tuple[int, ...], ...]:
        """The kernels by number, those together that are launched together, macros allowing."""
        groups = schedule.programs(self.schedule)
        return tuple(part for group in groups for part in self._agreeing(group))

    def _agreeing(self, group: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        """Parts of a group that are built in one way."""
        part, defined = list[int](), dict[str, int | str]()
        for n in group:
            k = self.kernels[n]
            built = {**dict(k.macros), "division": k.division}
            if any(defined.get(name, value) != value for name, value in built.items()):
                yield tuple(part)
                part, defined = [], {}
            part.append(n)
            defined |= built
        yield tuple(part)

    def macros(self, kernels: tuple[int, ...]) -> dict[str, int]:
        """The macros that kernels of one program are built with."""
        return {name: value for n in kernels for name, value in self.kernels[n].macros}

    def program(self, kernels: tuple[int, ...]) -> str:
        """The OpenCL C of some of the kernels."""
        defined = [f"#define {name} {value}\n" for name, value in self.macros(kernels).items()]
        texts = dict.fromkeys(self.kernels[n].text for n in kernels)
        return self.shared + "".join(defined) + "\n" * bool(defined) + "\n".join(texts)

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
    def needs_ieee_floats(self) -> bool:
        """Whether floats are to be those of C in every case, and there are some: halves too are
        computed in float."""
        exact = any(k.fp.exact for k in self.kernels)
        return exact and not {FLOAT, HALF}.isdisjoint(all_types(self.function))

    @property
    def needs_rounding(self) -> bool:
        """Whether quotients and square roots of floats are to be those of C, and there are some."""
        return any(k.fp.exact for k in self.kernels) and divides_floats(self.written)

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
        return (*grids, *control, *(e for b in self.temporaries for e in b.sizes))

    @property
    def sizes(self) -> tuple[Expr, ...]:
        """All that is computed from the scalars to run the kernels."""
        return (*(e for b in self.buffers for e in b.sizes), *self.launched)

    @property
    def tile_products(self) -> tuple[Instruction, ...]:
        """What the forms of kernels for tensor units multiply tiles by (the step `tensorise`)."""
        return instructions([k.text for k in self.kernels])

    @property
    def group_products(self) -> tuple[GroupInstruction, ...]:
        """What they multiply by that warps compute together."""
        return group_instructions([k.text for k in self.kernels])

    @cached_property
    def conditions(self) -> tuple[Condition, ...]:
        """What must hold for the launches to mean what the user's loops mean."""
        given = {p.name for p in self.start.objects}
        sizes = [e for e in self.sizes if names(e) <= given]
        spans = [s for k in self.kernels for s in _spans(k.mapping) if names(s) <= given]
        d = Dialect("c", symbols(self.start))
        asked = conditions(self.start, self.function, sizes)
        return strictest((*asked, *undecided((in_int(simplify(s), d) for s in spans), d)))


def program_plan(
    fn: Function, start: Function, *, header: tuple[str, ...] = (), fp: FloatingPoint = CONTRACT
) -> Plan:
    """Plans the kernels of the mapped program `fn`, derived from `start` (the user's program, which
    says what may be touched). `fp` is what is permitted of floating point.

    Raises EmitError where the program cannot run as kernels, or an array has no known extent.
    """
    require_whole(start)
    texts, written = structs.plain_names(start), start
    start, fn = (structs.plain_locals(structs.plain(x, texts)) for x in (start, fn))
    items, own = turned_ahead(schedule.schedule(fn), fn), temporaries(fn)
    found = schedule.launches(items)
    names = tuple(f"{BUILTIN_KERNEL_PREFIX}{fn.name}{_suffix(n)}" for n in range(len(found)))
    taken = frozenset({*names, *(name for x in found for name, _ in x.function.tiles)})
    constants = [p for p in tables(start) if p in used_objects(fn)]
    fixed = {p.name: free_name(p.name, taken) for p in constants}
    with structs.refused_as_written(texts):
        arguments = buffers_of(start, [p for p in used_objects(fn) if p not in constants])
    arrays = {a.param.name: a for a in (*arguments, *own) if isinstance(a, Buffer)}
    alike = all(x.function.tiles == fn.tiles for x in found)
    made = (
        kernel_plan(x, name, taken, arrays, fixed, several=not alike, fp=fp)
        for x, name in zip(found, names)
    )
    kernels = _permitted(tuple(_checked(k, start) for k in made), fp)
    every = [k.fp for k in kernels]
    vectors = vector_macros([k.text for k in kernels])
    if alike:
        kernels = tuple(replace(k, macros=()) for k in kernels)
    else:
        kernels = _shared_texts(kernels, names)
    kernels = tuple(replace(k, text=joined(unbraced(k.text))) for k in kernels)
    plain = cexpr.dialect_of(start, "opencl")
    called = routines.texts(start, "opencl")
    text = "\n".join([*called, *(k.text for k in kernels)])
    fp = reduce(FloatingPoint.both, every)
    comment = render.kernels_comment((*header, *_launches(kernels))) if header else ""
    shared = render.kernels_shared(
        pragmas=_pragmas(fn, fp),
        structs=[structs.kernel_definition(r) for r in _records(arguments)],
        routines=[line for t in (*_helpers(text, fp), *called) for line in t.splitlines()],
        tiles=fn.tiles if alike else (),
        **used_macros([k.text for k in kernels]),
        **vectors,
        constants=[kernel_table(p, fixed[p.name], plain) for p in constants],
    )
    return Plan(
        comment,
        shared,
        fn,
        start,
        kernels,
        arguments,
        own,
        written,
        items,
        reduce(FloatingPoint.either, every),
    )


def _permitted(kernels: tuple[KernelPlan, ...], fp: FloatingPoint) -> tuple[KernelPlan, ...]:
    """With what is permitted of floating point in each; its text says so where they differ in
    contraction."""
    kernels = tuple(replace(k, fp=permitted(fp, k.function)) for k in kernels)
    if len({k.fp.contract for k in kernels}) > 1:
        return tuple(replace(k, text=f"{_contracting(k.fp)}\n{k.text}") for k in kernels)
    return kernels


def _suffix(n: int) -> str:
    return f"_{n + 1}" if n else ""


def _checked(k: KernelPlan, start: Function) -> KernelPlan:
    """With what must hold at each launch, of scalars that differ between launches."""
    if not k.changing:
        return k
    own = {p.name for p in k.changing}
    others = tuple(p for p in start.params if p.name not in own)
    around = replace(start, params=(*others, *k.changing), assumes=(), representable=())
    d = Dialect("c", symbols(around))
    asked = conditions(around, k.function, k.computed)
    found = (*asked, *(in_int(simplify(s), d) for s in _spans(k.mapping)))
    return replace(k, conditions=tuple(c for c in found if names(c.expr) & own))


def _spans(mapping: Mapping) -> Iterator[Expr]:
    """What loops over groups count that do not begin at 0."""
    for g in mapping.grid:
        if value_of(g.lo) != 0:
            yield Bin("+", Bin("-", g.hi, g.lo), g.step)


def _launches(kernels: tuple[KernelPlan, ...]) -> tuple[str, ...]:
    """The launches in the comment on top."""
    if len(kernels) == 1:
        return _launch(kernels[0].mapping)
    alike: dict[str, list[Mapping]] = {}
    for k in kernels:
        alike.setdefault(k.name, []).append(k.mapping)
    lines = (f"{name}: {x}" for name, mappings in alike.items() for x in _launch(*mappings))
    return tuple(lines)


def _launch(*mappings: Mapping) -> tuple[str, ...]:
    """The launches of a text in the comment on top."""
    launches = (f"launch: {describe.grid(m)}, each {describe.group(m)}" for m in mappings)
    memory = f"local memory of a group: {describe.local_memory(*mappings)}"
    needed = any(m.tiles for m in mappings)
    return (*dict.fromkeys(launches), *([memory] if needed else []))


def _records(arguments: tuple[Buffer | Param, ...]) -> tuple[Record, ...]:
    owners = (a.param for a in arguments if isinstance(a, Buffer))
    return tuple(dict.fromkeys(s.type for s in owners if isinstance(s, Struct)))


def _helpers(text: str, fp: FloatingPoint) -> tuple[str, ...]:
    """The definitions of what kernels call."""
    return (
        *halves.helpers(text),
        *atomics.helpers(text),
        *look_back.helpers(text),
        *turned_tile.helpers(text),
        *record_vectors.helpers(text),
        *quotients.helpers(text, approximate=fp.approximate),
        *root_quotients.helpers(text),
        *quick_quotients.helpers(text),
    )


def _pragmas(fn: Function, fp: FloatingPoint) -> list[str]:
    out = ["#pragma OPENCL EXTENSION cl_khr_fp64 : enable"] if DOUBLE in all_types(fn) else []
    needed = dict.fromkeys((*atomics.extensions(fn), *look_back.extensions(fn)))
    out += [f"#pragma OPENCL EXTENSION {name} : enable" for name in needed]
    return [*out, _contracting(fp)]


def _contracting(fp: FloatingPoint) -> str:
    return f"#pragma OPENCL FP_CONTRACT {'ON' if fp.contract else 'OFF'}"


def _shared_texts(
    kernels: tuple[KernelPlan, ...], names: tuple[str, ...]
) -> tuple[KernelPlan, ...]:
    """Kernels that differ in numbers alone have one text and name."""
    same = [named(k.text, names[0]) for k in kernels]
    out = list(kernels)
    for name, family in zip(names, families(same, [k.macros for k in kernels])):
        for n, macros in family.members:
            out[n] = replace(kernels[n], name=name, text=named(family.text, name), macros=macros)
    return tuple(out)


def _builds(kernels: Sequence[KernelPlan]) -> Iterator[str]:
    """What a text is built with, where that is more than one."""
    rows = list(dict.fromkeys(" ".join(f"{n}={v}" for n, v in k.macros) for k in kernels))
    if len(rows) > 1:
        yield from (f"{kernels[0].name} with {row}" for row in rows)


def _redefined(name: str, value: int, *, again: bool) -> Iterator[str]:
    if again:
        yield f"#undef {name}"
    yield f"#define {name} {value}"
