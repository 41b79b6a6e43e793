"""Keys of a call from Python, looked at by a function in C before kernels run on them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from loopxform import compiler
from loopxform.analysis.key_checks import TOLD, KeyCheck
from loopxform.codegen import cexpr
from loopxform.codegen.c.program import file_text
from loopxform.codegen.structs import plain_names, pointed, roots
from loopxform.errors import ArgumentError, DeviceError
from loopxform.ir.nodes import Expr
from loopxform.ir.typing import symbols, type_of
from loopxform.runtime.queue import Queue
from loopxform.verify.cref import CSource, Library


class Keys:
    """Looks through the arguments of a call; `queue` is that of the arrays that a device has, of
    which what is read is copied. Raises DeviceError where there is no C compiler."""

    def __init__(self, check: KeyCheck, queue: Queue) -> None:
        self.check, self.queue = check, queue
        first = self._text(check.places[0].access)
        if compiler.find() is None:
            raise DeviceError(
                f"data decide what {first} is, and no C compiler is there to look at them",
                loc=check.places[0].access.origin.loc,
                code="LX234",
                help="install gcc or clang, or set CC",
            )
        text = file_text(check.fn, openmp=False, define_globals=True)
        self.library = Library(CSource(text=text), [check.fn])

    def __call__(self, values: Mapping[str, Any]) -> None:
        """Raises ArgumentError for the first key that is out of range."""
        told = np.zeros(self.check.numbers, np.int64)
        self.library.run(self.check.fn.name, {**self._arguments(values), TOLD: told})
        if told[0]:
            raise self._error(told)

    def _arguments(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """By the names of the C; arrays that the check stores to are copies."""
        fn = self.check.fn
        plain = plain_names(fn)
        given = {n: n for n in roots((*fn.params, *fn.globals)) if n != TOLD}
        given |= {n: plain[n] for n in pointed(fn)}
        return {n: self._argument(n, values[p]) for n, p in given.items() if p in values}

    def _argument(self, name: str, value: Any) -> Any:
        read, stored = (
            any(x == name or x.startswith(f"{name}.") for x in arrays)
            for arrays in (self.check.reads, self.check.stores)
        )
        if isinstance(value, np.ndarray):
            return value.copy() if stored else value
        p = next((p for p in self.check.fn.objects if p.name == name and p.shape), None)
        if p is None:
            return value
        place = self.queue.memory(name, value, np.dtype(p.type.numpy), read=True, written=False)
        if place is None or not place.elements or not (read or stored):
            return np.empty(0, p.type.numpy)
        array = np.empty(place.elements, p.type.numpy)
        with self.queue.errors(f"{name} cannot be read"):
            self.queue.read(array, self.queue.buffer(value, place))
        return array

    def _text(self, e: Expr) -> str:
        return cexpr.expr(e, cexpr.dialect_of(self.check.fn))

    def _error(self, told: np.ndarray[Any, Any]) -> ArgumentError:
        place = self.check.places[int(told[0]) - 1]
        at, size, counters = int(told[1]), int(told[2]), map(int, told[3:])
        x, e = place.access, place.access.index[place.dimension]
        if type_of(e, symbols(self.check.fn)).is_unsigned:
            at %= 1 << 64  # what is told is signed
        where = ", ".join(f"{v} = {n}" for v, n in zip(place.loops, counters))
        has = f"{x.array} has {size}" if len(x.index) == 1 else f"there are {size}"
        return ArgumentError(
            f"{self._text(x)} is outside of {x.array}"
            f"{f' at {where}' if where else ''}: {self._text(e)} is {at}, and {has}",
            loc=x.origin.loc,
            code="LX233",
            help=f"give keys from 0 to {size - 1}" if size > 0 else "give a larger array",
        )
