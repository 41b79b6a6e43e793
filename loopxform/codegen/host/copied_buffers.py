"""Array arguments in C: what the host code copies of each, and where it lies."""

from __future__ import annotations

from loopxform.codegen.cexpr import Dialect
from loopxform.codegen.host import guards
from loopxform.codegen.host.buffers import Buffer, Part
from loopxform.codegen.host.guards import wide
from loopxform.codegen.host.rows import dense_name
from loopxform.ir.nodes import Const, Param
from loopxform.records import record


@record
class HostPart:
    """A part of an array as the host code copies it: C expressions for its first element, for the
    one behind its last, and for whether there are any ("": yes)."""

    begin: str
    end: str
    when: str


@record
class HostBuffer:
    """An array as the host code sees it: C expressions for its address, for the elements that are
    touched, and for those that the device has room for. `into` is copied to the device, `back` from
    it; kernels write some of it where it is `written`. A `pointer` of the caller's `may_be_null`,
    where the loops happen to touch nothing. It is the caller's `own` memory, or a dense copy of
    rows."""

    name: str
    type: str
    pointer: str
    count: str
    room: str
    into: HostPart | None
    back: HostPart | None
    may_be_null: bool
    written: bool
    own: bool

    @property
    def held(self) -> str:
        """Whether the device has something newer of it, in C."""
        return f"lx_is_newer({self.pointer})"

    @property
    def texts(self) -> tuple[str, ...]:
        parts = (p for p in (self.into, self.back) if p is not None)
        return (self.count, *(t for p in parts for t in (p.begin, p.end, p.when)))


def host_buffer(b: Buffer, d: Dialect, first: str = "") -> HostBuffer:
    """An array argument in C; `first` says where what is copied begins, if only that does."""
    p = b.param
    is_matrix = isinstance(p, Param) and p.rows
    pointer = dense_name(p.name) if is_matrix else p.name if p.array else f"&{p.name}"
    into, back = (_part(x, d, first) for x in (b.into, b.back))
    touched, room = guards.count(b, d), wide(b.room, d)
    null = guards.may_be_null(p) and not is_matrix
    own = not is_matrix
    return HostBuffer(p.name, p.type.c, pointer, touched, room, into, back, null, b.written, own)


def _part(p: Part | None, d: Dialect, first: str) -> HostPart | None:
    if p is None:
        return None
    when = "" if p.when is None else wide(p.when, d)
    begin = wide(p.begin, d)
    if first:
        begin = first if p.begin == Const(0) else f"LX_MAX({begin}, {first})"
    return HostPart(begin, wide(p.end, d), when)
