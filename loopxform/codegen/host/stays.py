"""What the host code of a part has to know for arrays that stay on the device between calls."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from loopxform.analysis.key_checks import KeyCheck
from loopxform.codegen.host.copied_buffers import HostBuffer
from loopxform.codegen.structs import Inside
from loopxform.ir.nodes import Function
from loopxform.ir.visit import reads, writes


def struct_roots(inside: Inside) -> tuple[str, ...]:
    """The addresses, in C, of the structs that the host reads numbers and pointers of."""
    read = (
        w.name.partition(".")[0]
        for w, p in zip(inside.written.objects, inside.plain.objects)
        if "." in (w.tests or w.name) and "." not in p.name
    )
    pointers = {s.name for s in inside.written.structs if s.array}
    return tuple(dict.fromkeys(n if n in pointers else f"&{n}" for n in read))


def inspected(
    buffers: Sequence[HostBuffer], inspector: Function | None, keys: KeyCheck | None
) -> tuple[str, ...]:
    """The addresses, in C, of the arrays that the host reads before kernels run."""
    bodies = [f.body for f in (inspector, keys.fn if keys else None) if f is not None]
    named = {n for body in bodies for n in reads(body) | writes(body)}
    return tuple(b.pointer for b in buffers if b.name in named)


def may_end_half_way(flags: Iterable[str], control: Iterable[str]) -> bool:
    """Whether a condition of a launch is asked once kernels have run."""
    return any(flags) and any("lx_require" in line for line in control)
