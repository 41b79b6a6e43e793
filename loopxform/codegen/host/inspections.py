"""Functions of the host that run through subscripts before kernels do, in C: one finds ends of
arrays, one looks at keys."""

from __future__ import annotations

from itertools import groupby

from loopxform.analysis.key_checks import KeyCheck
from loopxform.codegen.c.program import function_text
from loopxform.ir.nodes import Function
from loopxform.records import record


@record
class HostKeyCheck:
    """Its name and lines, how many numbers it tells, and what its places say: up to which number
    each reason stands for them."""

    name: str
    lines: tuple[str, ...]
    numbers: int
    reasons: tuple[tuple[int, str], ...]


def host_key_check(check: KeyCheck) -> HostKeyCheck:
    """Plans the function that looks at keys."""
    places = enumerate(check.places, 1)
    reasons = tuple(
        (max(n for n, _ in run), f"a subscript of '{array}' is out of range")
        for array, run in groupby(places, lambda p: p[1].access.array)
    )
    return HostKeyCheck(check.fn.name, _lines(check.fn, check.fn.name), check.numbers, reasons)


def inspector_lines(fn: Function) -> tuple[str, ...]:
    """The function that finds ends of arrays."""
    return _lines(fn, f"lx_inspect_{fn.name}")


def _lines(fn: Function, name: str) -> tuple[str, ...]:
    return tuple(function_text(fn, name=name, openmp=False, as_written=True).splitlines())
