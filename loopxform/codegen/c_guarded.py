"""Transformed C for the CPU that asks at run time what the analysis took for granted, and runs the
user's own loops, kept in the same file, where the answer is no."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from loopxform.analysis.assumptions import is_object
from loopxform.codegen import c_program, guard, render
from loopxform.codegen.buffers import span_of
from loopxform.codegen.cexpr import Dialect
from loopxform.errors import EmitError
from loopxform.ir.names import fresh
from loopxform.ir.nodes import Function, Param
from loopxform.ir.typing import symbols


@dataclass(frozen=True)
class Guarded:
    """Everything templates/guarded.c.j2 prints. `sizes` are the bytes of the arrays that
    `overlaps` compares."""

    prelude: tuple[str, ...]
    reference: str
    transformed: str
    prototype: str
    sizes: tuple[tuple[str, str], ...]
    conditions: tuple[tuple[str, str], ...]
    overlaps: tuple[tuple[str, str], ...]
    fall_back: str
    go_on: str


def file_text(start: Function, fn: Function, *, reordered: bool = True) -> str:
    """A translation unit with `fn`, derived from `start`, behind the user's prototype. Where there
    is nothing to ask it is `fn` alone. `reordered` says that accesses are in another order than in
    `start`, so that it matters whether objects overlap.

    Raises EmitError where that cannot be asked: how much of an array is touched is not known.
    """
    pairs = guard.unrestricted(guard.meeting(start)) if reordered else ()
    sizes = tuple(_sizes(start, pairs))
    conditions = guard.conditions(start, fn)
    if start == fn or not (conditions or pairs):
        return c_program.file_text(fn)
    d = Dialect("c", symbols(start))
    as_written = fresh(start, f"{fn.name}_as_written")
    transformed = fresh(start, f"{fn.name}_transformed")
    texts = (
        c_program.function_text(start, name=as_written, openmp=False),
        c_program.function_text(fn, name=transformed),
    )
    asked = tuple((c.text(d), c.why) for c in conditions)
    arguments = ", ".join(p.name for p in start.params)
    made = Guarded(
        prelude=tuple(_prelude(start, [*texts, *(c for c, _ in asked)], overlaps=bool(pairs))),
        reference=texts[0].rstrip("\n"),
        transformed=texts[1].rstrip("\n"),
        prototype=c_program.prototype(start),
        sizes=sizes,
        conditions=asked,
        overlaps=tuple(guard.overlaps(pairs)),
        fall_back=_leave(start, f"{as_written}({arguments})"),
        go_on=_call(start, f"{transformed}({arguments})"),
    )
    return render.fill("guarded.c.j2", g=made)


def _prelude(start: Function, texts: Sequence[str], *, overlaps: bool) -> Iterator[str]:
    """Includes once, those of the guard among them."""
    own = ["stddef.h", "stdint.h"] if overlaps else []
    lines = c_program.prelude(start, "\n".join(texts))
    yield from dict.fromkeys([*(f"#include <{h}>" for h in own), *lines])


def _sizes(start: Function, pairs: Sequence[tuple[Param, Param]]) -> Iterator[tuple[str, str]]:
    d = Dialect("c", symbols(start))
    for p in dict.fromkeys(p for pair in pairs for p in pair if p.array):
        if is_object(p) and p.shape[0] is not None:
            yield p.name, f"sizeof {p.name}"
            continue
        try:
            touched = span_of(start, p)
        except EmitError as e:
            e.help = f"declare it 'restrict' where no other array overlaps it: *restrict {p.name}"
            raise
        yield p.name, f"sizeof({p.type.c}) * ({guard.count(touched, d)})"


def _leave(start: Function, call: str) -> str:
    return f"{{ {call}; return; }}" if start.returns is None else f"return {call};"


def _call(start: Function, call: str) -> str:
    return f"{call};" if start.returns is None else f"return {call};"
