"""`loopxform validate`: whether written kernels compute what the user's C does."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import islpy as isl

from loopxform.validate import host as host_code
from loopxform.validate import memory, programs
from loopxform.validate.equality import Comparison, Different
from loopxform.validate.flow import Flow
from loopxform.validate.model import Gather, nodes
from loopxform.validate.reductions import operator_of
from loopxform.validate.unmodelled import Unmodelled


@dataclass(frozen=True)
class Verdict:
    """`status`: proven, wrong (a difference or a fault may be there), or unmodelled."""

    status: str
    reason: str = ""
    user_line: int = 0
    kernel_line: int = 0
    kernels: tuple[str, ...] = ()
    seconds: float = 0.0


def validate(
    kernels: Path, source: Path, *, host: Path | None = None, options: Sequence[str] = ()
) -> Verdict:
    begun = time.perf_counter()
    context = isl.DEFAULT_CONTEXT
    before = context.get_max_operations()
    context.reset_operations()
    context.set_max_operations(MOST_OPERATIONS)
    try:
        names = _validate(kernels, source, host, options)
    except isl.Error as e:
        seconds = time.perf_counter() - begun
        return Verdict("unmodelled", f"sets that isl gives up ({_first_line(e)})", seconds=seconds)
    except Unmodelled as e:
        lines = (0, e.line) if e.kernel else (e.line, 0)
        return Verdict("unmodelled", e.what, *lines, seconds=time.perf_counter() - begun)
    except Different as e:
        return Verdict("wrong", e.what, e.user, e.kernel, seconds=time.perf_counter() - begun)
    except memory.Fault as e:
        return Verdict("wrong", e.what, 0, e.line, seconds=time.perf_counter() - begun)
    finally:
        context.reset_operations()
        context.set_max_operations(before)
    return Verdict("proven", kernels=names, seconds=time.perf_counter() - begun)


MOST_OPERATIONS = 2_000_000_000
"""Of isl, for one kernel: minutes."""


def _first_line(e: Exception) -> str:
    return str(e).partition("\n")[0].rpartition(" in /")[0] or str(e)


def _validate(
    kernels: Path, source: Path, host: Path | None, options: Sequence[str]
) -> tuple[str, ...]:
    host = host or kernels.with_name(f"{kernels.stem}_opencl.c")
    written = host_code.read(host.read_text(encoding="utf-8"))
    user = programs.user(source, written.name, options)
    touched = memory.footprints(user.program)
    user.context = memory.defined(user.program, programs.accepted(user, written))
    stored = {s.array for s in user.program.statements}
    memory.inside(user.program, touched, user.context, stored)
    try:
        ways = [*programs.launches(user, kernels.read_text(encoding="utf-8"), written)]
    except Unmodelled as e:
        e.kernel = True
        raise
    names: list[str] = []
    for way in ways:
        names += way.kernels
        stored |= {s.array for s in way.program.statements}
        here = user.context.intersect_params(way.program.quotients)
        memory.inside(way.program, touched, here, stored)
        memory.races(way.program)
        try:
            _compare(user, way)
        except Different:
            if not any(operator_of(s.value) for s in user.program.statements):
                raise
            _compare(user, way, reordering=True)
    return tuple(dict.fromkeys(names))


def _compare(user: programs.User, way: programs.Launches, *, reordering: bool = False) -> None:
    flow = Flow(user.program)
    comparison = Comparison(flow, Flow(way.program), reordering=reordering)
    sizes = way.where.params().intersect(user.program.quotients)
    sizes = sizes.intersect(way.program.quotients).intersect(user.context.params())
    stored = {s.array for s in (*user.program.statements, *way.program.statements)}
    for name, cell in user.cells.items():
        if name not in stored:
            continue
        cells = None
        for s in (*user.program.statements, *way.program.statements):
            if s.array == name:
                part = s.cells.range()
                cells = part if cells is None else cells.union(part)
        assert cells is not None
        cells = cells.intersect_params(sizes).coalesce()
        comparison.arrays(name, cells)
        del cell
    for s in way.program.statements:
        for x in nodes(s.value):
            if isinstance(x, Gather):
                none = isl.Set.empty(s.domain.get_space())
                seen = comparison.gathered.get(x.site, none).set_tuple_id(s.domain.get_tuple_id())
                beyond = s.domain.subtract(seen)
                if not beyond.is_subset(comparison.read_alike(s, x, seen).domain()):
                    raise memory.Fault(f"{x.array} may be read out of bounds", x.line)
    for s in (*user.program.statements, *way.program.statements):
        for x in nodes(s.value):
            if isinstance(x, Gather) and x.array in stored:
                raise Unmodelled(
                    f"{x.array}, which is stored to, at places that data decide", x.line
                )
