"""CLBlast, through its C interface, on the queue and the buffers of our own kernels."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from ctypes import POINTER, c_int, c_size_t, c_void_p
from typing import Any

from loopxform.bench.libraries import LIBRARY, declared, load
from loopxform.bench.measure import Kind
from loopxform.bench.product import Product
from loopxform.ir.types import FLOAT
from loopxform.runtime.queue import Queue
from loopxform.runtime.resident import Resident, spans
from loopxform.verify.tolerance import Tolerance

ROW_MAJOR, NO, YES = 101, 111, 112
"""CLBlastLayout and CLBlastTranspose (clblast_c.h)."""

INSTALL = "install CLBlast (Debian, Ubuntu: apt install libclblast1), or leave out --against"


class CLBlast:
    """A product by CLBlast's GEMM. Raises InputError where the library is not found."""

    label: str = "clblast"
    kind: Kind = "library"
    details: Mapping[str, int] = {}
    allowed: Tolerance = LIBRARY

    def __init__(self, product: Product, queue: Queue) -> None:
        self.product, self.queue = product, queue
        self.real = ctypes.c_float if product.type == FLOAT else ctypes.c_double
        matrix = (c_void_p, c_size_t, c_size_t)
        self._gemm = declared(
            load("clblast", ("1",), INSTALL),
            "CLBlastSgemm" if product.type == FLOAT else "CLBlastDgemm",
            *(c_int, c_int, c_int, c_size_t, c_size_t, c_size_t),
            *(self.real, *matrix, *matrix, self.real, *matrix),
            *(POINTER(c_void_p), POINTER(c_void_p)),
        )

    def result(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments after one call. Raises DeviceError."""
        on_device = self._resident(given)
        spans(self.queue, lambda: self._call(on_device, given), 1)
        c = self.product.c.array
        return {**given, c: on_device.fetch(c)}

    def times(self, given: Mapping[str, Any], launches: int) -> list[int]:
        """Nanoseconds of each call: all of its kernels, from the end of the call before. Raises
        DeviceError."""
        on_device = self._resident(given)
        return spans(self.queue, lambda: self._call(on_device, given), launches)

    def _resident(self, given: Mapping[str, Any]) -> Resident:
        p = self.product
        return Resident(self.queue, given, {p.a.array, p.b.array, p.c.array})

    def _call(self, on_device: Resident, given: Mapping[str, Any]) -> int:
        """The event of one call, which is only enqueued."""
        p, x = self.product, self.product.numbers(given)
        queue, event = c_void_p(self.queue.raw.int_ptr), c_void_p()
        a, b, c = (on_device.buffers[o.array].int_ptr for o in (p.a, p.b, p.c))
        kinds = [YES if o.transposed else NO for o in (p.a, p.b)]
        factors = (1.0, a, 0, x.a, b, 0, x.b)
        result = (float(p.adds), c, 0, x.c, ctypes.byref(queue), ctypes.byref(event))
        self._gemm(ROW_MAJOR, *kinds, x.m, x.n, x.k, *factors, *result)
        assert event.value is not None
        return event.value
