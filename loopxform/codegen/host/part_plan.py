"""What the templates print of one offloaded part: its kernels, arrays and conditions as C text."""

from __future__ import annotations

from functools import reduce
from itertools import groupby
from operator import or_
from pathlib import Path

from loopxform.codegen.host.copied_buffers import HostBuffer
from loopxform.codegen.host.in_order import InOrder
from loopxform.codegen.host.inspections import HostKeyCheck
from loopxform.codegen.host.rows import HostRows
from loopxform.ir.tensor_tiles import Instruction
from loopxform.ir.warp_groups import GroupInstruction
from loopxform.records import record

ARRAY_BITS = 64
"""Arrays of the caller's that the host tells apart where kernels need them (`cl_ulong`)."""


@record
class HostTemporary:
    """An array that exists on the device only: C expressions for its elements, their size, and
    whether it is needed ("": always); where it is not, kernels are given the array `like`."""

    name: str
    count: str
    size: str
    when: str
    like: str

    @property
    def own(self) -> str:
        """The C variable that says whether it is needed."""
        return self.name.replace("lx_mem_", "lx_own_", 1)


@record
class HostKernel:
    """A kernel as the host code launches it: `arguments` are C variables in order, of which those
    in `changing` are set at each launch. Its text are `count` lines from `first` on (`lines`, where
    no kernel before has the same), `program` is the number of the program which it is built in."""

    name: str
    lines: tuple[str, ...]
    first: int
    count: int
    program: int
    group_shape: tuple[int, int, int]
    arguments: tuple[str, ...]
    changing: tuple[str, ...]


@record
class HostPlan:
    """Everything templates/entry.c.j2, host.c.j2 and host.h.j2 print. `place` is where the part
    stands in the user's file, `shared_lines` stand above its kernels in each program, `keys` tell
    its programs from others, `options` are what each is built with, `control` are the statements
    around the launches. `conditions` must hold for the launches to mean the loops, `touched` for
    there to be something to do, `given` for no null pointer to stand for an array of the device;
    `flags` are those of the temporaries that the control flow reads, `in_order` the kernels that
    the host may run; `prelude` is what must stand
    above, where the user's file does not have it. Without `cl_prototype` there is no NAME_cl.
    `thresholds` are those that tuning files may change when the program runs, `functions` the ones
    that these may speak of; `asks_warp`: as in `Runtime`; `rows` are the matrices among the
    `buffers` that pointers to rows lead to, `row_numbers` what else must be apart from them, with
    its size and whether it is written; the `inspector` is a function that finds out `ends` of
    arrays, in their order; the `key_check` looks at subscripts that data decide. The host reads the
    `struct_roots` to begin with, and the `inspected` arrays before kernels run, which
    `may_end_half_way`."""

    name: str
    place: str
    shared_lines: tuple[str, ...]
    keys: tuple[str, ...]
    divisions: tuple[str, ...]
    options: tuple[str, ...]
    origin: str
    kernels: tuple[HostKernel, ...]
    control: tuple[str, ...]
    temporaries: tuple[HostTemporary, ...]
    flags: tuple[str, ...]
    in_order: tuple[InOrder, ...]
    reference: str
    prelude: tuple[str, ...]
    prototype: str
    plain_prototype: str
    cl_prototype: str
    plain_cl_prototype: str
    try_prototype: str
    call: str
    cl_call: str
    buffers: tuple[HostBuffer, ...]
    rows: tuple[HostRows, ...]
    row_numbers: tuple[tuple[str, str, bool], ...]
    inspector: tuple[str, ...]
    key_check: HostKeyCheck | None
    ends: tuple[str, ...]
    arguments: tuple[tuple[str, str], ...]
    conditions: tuple[tuple[str, str], ...]
    asked_scalars: tuple[tuple[str, str], ...]
    touched: tuple[tuple[str, str], ...]
    locals: tuple[tuple[str, str], ...]
    unused: tuple[str, ...]
    unused_by_cl: tuple[str, ...]
    nulls: tuple[str, ...]
    given: tuple[tuple[str, str], ...]
    overlaps: tuple[tuple[str, str], ...]
    cl_overlaps: tuple[tuple[str, str], ...]
    takes_for_granted: str
    struct_roots: tuple[str, ...]
    inspected: tuple[str, ...]
    may_end_half_way: bool
    local_bytes: int

    @property
    def settings(self) -> list[tuple[int, int, list[tuple[int, str]]]]:
        """The arguments that are set once, by place, for runs of kernels that have the same: from
        a kernel on, up to another."""
        runs, first = [], 0
        for (arguments, changing), run in groupby(
            self.kernels, lambda k: (k.arguments, k.changing)
        ):
            last = first + sum(1 for _ in run)
            fixed = [(n, x) for n, x in enumerate(arguments) if x not in changing]
            if fixed:
                runs.append((first, last, fixed))
            first = last
        return runs

    @property
    def moved(self) -> tuple[str, ...]:
        """The arrays of the device that the control flow reads, or has the host work on."""
        return tuple(dict.fromkeys((*self.flags, *(m for x in self.in_order for m in x.devices))))

    @property
    def needs(self) -> tuple[int, ...]:
        """By kernel, a bit for each of the `buffers` that it has, or that may stand for an array of
        the device that it has; the last bit is for all buffers from there on. None where kernels do
        not differ."""
        bits = {b.name: 1 << min(n, ARRAY_BITS - 1) for n, b in enumerate(self.buffers)}
        for t in self.temporaries:
            bits[t.name] = bits.get(t.like, 0)
        found = tuple(reduce(or_, (bits.get(a, 0) for a in k.arguments), 0) for k in self.kernels)
        return found if len(set(found)) > 1 else ()

    @property
    def touches_are_known(self) -> bool:
        """Whether the scalars say which memory the loops touch."""
        return not (self.ends or self.rows)

    @property
    def shares(self) -> bool:
        """Whether devices may share a launch."""
        return any("lx_split(" in line for line in self.control)

    @property
    def source(self) -> str:
        """The name of the user's file, without its ending."""
        return Path(self.origin).stem

    @property
    def programs(self) -> list[tuple[str, str, str]]:
        """Their keys, options and divisions."""
        return list(zip(self.keys, self.options, self.divisions))

    @property
    def has_runs(self) -> bool:
        """Whether more than one kernel has the same arguments as the one before it."""
        return any(last - first > 1 for first, last, _ in self.settings)

    group_size: int
    doubles: bool
    floats: bool
    division: str
    operations: str | None
    thresholds: tuple[tuple[str, int], ...]
    asks_warp: bool
    tile_products: tuple[Instruction, ...]
    group_products: tuple[GroupInstruction, ...]
    functions: tuple[str, ...]
    most_on_host: str
    asks_macros: bool
    halves: bool
