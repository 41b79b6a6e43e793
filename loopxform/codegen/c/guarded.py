"""Transformed C for the CPU that asks at run time what the analysis took for granted, and runs the
user's own loops, kept in the same file, where the answer is no."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from loopxform.codegen import render, structs
from loopxform.codegen.c import declarations, program
from loopxform.codegen.cexpr import Dialect
from loopxform.codegen.host import guards
from loopxform.codegen.host.buffers import Buffer, buffers_of, span_of
from loopxform.errors import EmitError
from loopxform.ir.names import fresh
from loopxform.ir.nodes import Copy, Function, Param
from loopxform.ir.typing import symbols
from loopxform.ir.visit import reads, walk, writes
from loopxform.records import record


@record
class Guarded:
    """Everything templates/guarded.c.j2 prints. `sizes` are the bytes of the arrays that
    `overlaps` compares."""

    prelude: tuple[str, ...]
    reference: str
    transformed: str
    prototype: str
    locals: tuple[tuple[str, str], ...]
    nulls: tuple[str, ...]
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
    new = structs.plain_names(start)
    plain = structs.plain(start, new)
    inside = structs.Inside(start, plain)
    with structs.refused_as_written(new):
        pairs = guards.unrestricted(guards.meeting(plain)) if reordered else ()
        sizes = tuple(_sizes(plain, pairs))
        conditions = (*guards.conditions(plain, structs.plain(fn, new)), *guards.given(plain))
    untouched = start == fn and start.as_written == fn.as_written
    if untouched or not (conditions or pairs):
        return program.file_text(fn, as_written=untouched)
    d = Dialect("c", symbols(plain), ahead=True)
    as_written = fresh(start, f"{fn.name}_as_written")
    transformed = fresh(start, f"{fn.name}_transformed")
    texts = (
        program.function_text(start, name=as_written, openmp=False, as_written=True),
        program.function_text(fn, name=transformed, static=True),
    )
    asked = tuple((c.text(d), c.why) for c in conditions)
    arguments = ", ".join(structs.roots(start.params))
    made = Guarded(
        prelude=tuple(_prelude(start, [*texts, *(c for c, _ in asked)], overlaps=bool(pairs))),
        reference=texts[0].rstrip("\n"),
        transformed=texts[1].rstrip("\n"),
        prototype=declarations.prototype(start),
        locals=tuple(inside.locals()),
        nulls=(*inside.nulls(), *_copied(plain, structs.plain(fn, new))),
        sizes=sizes,
        conditions=asked,
        overlaps=tuple(guards.overlaps(plain, pairs, inside.texts)),
        fall_back=_leave(start, f"{as_written}({arguments})"),
        go_on=_call(start, f"{transformed}({arguments})"),
    )
    return render.fill("guarded.c.j2", g=made)


def _prelude(start: Function, texts: Sequence[str], *, overlaps: bool) -> Iterator[str]:
    """Includes once, those of the guard among them."""
    own = ["stddef.h", "stdint.h"] if overlaps else []
    lines = program.prelude(start, "\n".join(texts))
    yield from dict.fromkeys([*(f"#include <{h}>" for h in own), *lines])


def _sizes(start: Function, pairs: Sequence[tuple[Param, Param]]) -> Iterator[tuple[str, str]]:
    d = Dialect("c", symbols(start), ahead=True)
    used = reads(start.body) | writes(start.body)
    arrays = [p for p in start.objects if p.array and p.name in used]
    for whole in dict.fromkeys(guards.whole(start, p) for pair in pairs for p in pair if p.array):
        if whole.is_global and not whole.pointer and whole.shape[0] is not None:
            yield whole.name, f"sizeof {whole.name}"
            continue
        parts = [p for p in arrays if guards.whole(start, p) == whole]
        try:
            (touched,) = buffers_of(start, parts, span_of)
        except EmitError as e:
            name = whole.name
            e.help = f"declare it 'restrict' where no other array overlaps it: *restrict {name}"
            raise
        assert isinstance(touched, Buffer)
        yield whole.name, f"sizeof({whole.type.c}) * ({guards.count(touched, d)})"


def _copied(start: Function, fn: Function) -> Iterator[str]:
    """Arrays of which tiles are copied, whether the loops then touch an element or not."""
    sources = {s.source for _, s in walk(fn.body) if isinstance(s, Copy)}
    found = (p for p in start.objects if p.name in sources and guards.may_be_null(p))
    yield from structs.roots(found)


def _leave(start: Function, call: str) -> str:
    return f"{{ {call}; return; }}" if start.returns is None else f"return {call};"


def _call(start: Function, call: str) -> str:
    return f"{call};" if start.returns is None else f"return {call};"
