"""Matrices behind pointers to rows, as the host copies them to and from a dense array."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from loopxform.analysis.matrix_rows import row_part
from loopxform.codegen.cexpr import Dialect
from loopxform.codegen.host.buffers import Buffer
from loopxform.codegen.host.guards import wide
from loopxform.codegen.structs import Inside
from loopxform.ir.nodes import Bin, Const, Expr, Param, Var
from loopxform.ir.types import LLONG
from loopxform.records import record


@record
class HostRows:
    """A matrix in C: its name, and which of them it is; the loops that lead to rows (counter and
    end), the pointers that lead there, which are members of structs of `owner` if that has a name,
    whether any of it is touched, the first element of that part and its size, and where it is in
    the dense array."""

    name: str
    number: int
    type: str
    touched: str
    loops: tuple[tuple[str, str], ...]
    spines: tuple[str, ...]
    owner: str
    when: str
    place: str
    elements: str
    dense: str
    is_written: bool

    @property
    def copy(self) -> str:
        """The variable that holds the dense array."""
        return dense_name(self.name)


def dense_name(name: str) -> str:
    """The C variable that points to the dense copy of a matrix."""
    return f"lx_dense_{name}"


def host_rows(inside: Inside, buffers: Sequence[Buffer], d: Dialect) -> Iterator[HostRows]:
    """The matrices among the arguments of the kernels."""
    start, given = inside.plain, {b.param.name for b in buffers}
    matrices = [b for b in buffers if isinstance(b.param, Param) and b.param.rows]
    for number, b in enumerate(matrices):
        p = b.param
        assert isinstance(p, Param)
        part = row_part(start, p)
        types = {**d.types, **dict.fromkeys(part.index, LLONG)}
        own = replace(d, types=types)
        at: Expr = Var(part.index[0])
        for name, size in zip((*part.index[1:], ""), p.shape[1:]):
            assert size is not None
            step = part.first if not name else Var(name)
            at = Bin("+", Bin("*", at, size), step)
        pointers, owner = inside.pointers(p, part.index), inside.owner(p)
        count = Bin("+", Bin("-", part.last, part.first), Const(1))
        yield HostRows(
            p.name,
            number,
            p.type.c,
            "1" if part.touched is None else wide(part.touched, own),
            tuple((n, wide(e, own)) for n, e in zip(part.index, part.ends)),
            pointers,
            owner if owner in given else "",
            "1" if part.when is None else wide(part.when, own),
            f"{pointers[-1]}[{wide(part.first, own)}]",
            wide(count, own),
            wide(at, own),
            b.written,
        )
