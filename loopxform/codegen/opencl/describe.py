"""A launch in words, for the summary and the comment on top of a kernel."""

from __future__ import annotations

from collections.abc import Sequence

from loopxform.codegen.host.buffers import Buffer
from loopxform.codegen.opencl.launch import Mapping
from loopxform.ir.affine import simplify, value_of
from loopxform.ir.nodes import Bin, Const, Expr, Un
from loopxform.ir.printer import expr_text


def grid(mapping: Mapping) -> str:
    """`ceil(M / (Ty*Ry)) x ceil(N / (Tx*Rx)) groups`, slowest dimension first."""
    counts: dict[int, str] = {}
    for loop in mapping.grid:
        assert loop.level is not None
        gap, step = Bin("-", loop.hi, loop.lo), loop.step
        if (value_of(step) or 1) < 0:
            gap, step = Bin("-", loop.lo, loop.hi), simplify(Un("-", step))
        n, count = loop.level.dimension, _ceil(simplify(gap), step)
        counts[n] = "*".join(x for x in (counts.get(n, "1"), count) if x != "1") or "1"
    return " x ".join(counts.get(n, "1") for n in _dimensions(mapping)) + " groups"


def group(mapping: Mapping) -> str:
    """`Ty x Tx = 256 work-items`."""
    shape = " x ".join(expr_text(mapping.group_shape[n]) for n in _dimensions(mapping))
    return f"{shape} = {mapping.group_size} work-items"


def local_memory(*mappings: Mapping) -> str:
    """`12288 bytes: A_loc[Tk, Ty*Ry], B_loc[Tk, Tx*Rx]`; of kernels that share a text, `8192 to
    12288 bytes`."""
    totals = [sum(t.bytes for t in m.tiles) for m in mappings]
    shown = " to ".join(dict.fromkeys(map(str, (min(totals), max(totals)))))
    return _sized(f"{shown} bytes", [(t.decl.name, t.shape) for t in mappings[0].tiles])


def private_arrays(mapping: Mapping, shapes: dict[str, tuple[Expr, ...]]) -> str:
    """`44 elements in arrays: acc[Ry, Rx], A_reg[Ry], B_reg[Rx]` of each work-item; `shapes` are
    the declared ones, of which it keeps some dimensions, several times where it reads ahead."""
    kept = [(name, [shapes[name][n] for n in dims]) for name, dims in mapping.kept.items() if dims]
    kept = [(n, [*_sets(mapping, n), *shape]) for n, shape in kept]
    total = 0
    for _, shape in kept:
        count = 1
        for size in shape:
            count *= value_of(size) or 1
        total += count
    return _sized(f"{total} elements in arrays", kept)


def _sets(mapping: Mapping, name: str) -> list[Const]:
    """How often it keeps an array that it reads ahead."""
    return [Const(mapping.read_ahead[name])] if name in mapping.read_ahead else []


def arrays(buffers: Sequence[Buffer]) -> str:
    """`A_t[U, M], part[M, N, 8]`."""
    return ", ".join(_array(b.param.name, [d for d in b.param.shape if d]) for b in buffers)


def _dimensions(mapping: Mapping) -> list[int]:
    """Those in use: z, y, x."""
    used = {loop.level.dimension for loop in mapping.grid if loop.level}
    return [n for n in (2, 1, 0) if n in used or value_of(mapping.group_shape[n]) != 1]


def _ceil(gap: Expr, step: Expr) -> str:
    above, below = expr_text(gap), expr_text(step)
    if isinstance(gap, Bin) and gap.op in ("+", "-"):
        above = f"({above})"
    if value_of(step) == 1:
        return above
    return f"ceil({above} / {below if below.isalnum() else f'({below})'})"


def _sized(total: str, arrays: Sequence[tuple[str, Sequence[Expr]]]) -> str:
    texts = [_array(name, shape) for name, shape in arrays]
    return f"{total}{': ' if texts else ''}{', '.join(texts)}"


def _array(name: str, shape: Sequence[Expr]) -> str:
    return f"{name}[{', '.join(map(expr_text, shape))}]"
