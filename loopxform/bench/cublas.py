"""cuBLAS through its C interface and the CUDA runtime, on the GPU that OpenCL's device is.

cuBLAS counts columns first: the rows of a matrix are the columns of its transpose, so that
C = A*B is asked for as C' = B'*A'. Products are in full float or double: TF32 is off.
"""

from __future__ import annotations

import ctypes
import itertools
import os
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from ctypes import POINTER, byref, c_char_p, c_float, c_int, c_size_t, c_void_p
from dataclasses import dataclass
from typing import Any

import numpy as np

from loopxform.bench.libraries import LIBRARY, declared, load
from loopxform.bench.measure import Kind
from loopxform.bench.product import Product
from loopxform.ir.types import FLOAT
from loopxform.verify.tolerance import Tolerance

TO_DEVICE, TO_HOST = 1, 2
PLAIN, TRANSPOSED = 0, 1
FULL_PRECISION = 0
"""cudaMemcpyKind, cublasOperation_t, and CUBLAS_DEFAULT_MATH of cublasMath_t."""

VERSIONS = ("13", "12", "11")
INSTALL = (
    "install the CUDA toolkit (its folder of libraries in LD_LIBRARY_PATH), or leave out --against"
)


@dataclass(frozen=True)
class Cuda:
    """The functions that are used, each raising DeviceError where it fails."""

    count: Callable[..., None]
    at_place: Callable[..., None]
    use: Callable[..., None]
    allocate: Callable[..., None]
    free: Callable[..., None]
    copy: Callable[..., None]
    wait: Callable[..., None]
    new_event: Callable[..., None]
    end_event: Callable[..., None]
    record: Callable[..., None]
    elapsed: Callable[..., None]
    host_function: Callable[..., None]


PATIENCE = 2.0
"""Seconds after which the GPU begins with what is enqueued all the same."""

HOST_FUNCTION = ctypes.CFUNCTYPE(None, c_void_p)


def cuda(library: ctypes.CDLL) -> Cuda:
    """Those of the CUDA runtime."""
    return Cuda(
        declared(library, "cudaGetDeviceCount", POINTER(c_int)),
        declared(library, "cudaDeviceGetByPCIBusId", POINTER(c_int), c_char_p),
        declared(library, "cudaSetDevice", c_int),
        declared(library, "cudaMalloc", POINTER(c_void_p), c_size_t),
        declared(library, "cudaFree", c_void_p),
        declared(library, "cudaMemcpy", c_void_p, c_void_p, c_size_t, c_int),
        declared(library, "cudaDeviceSynchronize"),
        declared(library, "cudaEventCreate", POINTER(c_void_p)),
        declared(library, "cudaEventDestroy", c_void_p),
        declared(library, "cudaEventRecord", c_void_p, c_void_p),
        declared(library, "cudaEventElapsedTime", POINTER(c_float), c_void_p, c_void_p),
        declared(library, "cudaLaunchHostFunc", c_void_p, HOST_FUNCTION, c_void_p),
    )


class CuBLAS:
    """A product by the GEMM of cuBLAS on the GPU at a place on the PCI bus (`18:00.0`). Raises
    DeviceError where there is none for CUDA."""

    label: str = "cublas"
    kind: Kind = "library"
    details: Mapping[str, int] = {}
    allowed: Tolerance = LIBRARY

    def __init__(
        self, product: Product, place: str, runtime: ctypes.CDLL, library: ctypes.CDLL
    ) -> None:
        self.product, self.cuda = product, cuda(runtime)
        self.real = c_float if product.type == FLOAT else ctypes.c_double
        number, matrix = POINTER(self.real), (c_void_p, c_int)
        self._gemm = declared(
            library,
            "cublasSgemm_v2" if product.type == FLOAT else "cublasDgemm_v2",
            *(c_void_p, c_int, c_int, c_int, c_int, c_int),
            *(number, *matrix, *matrix, number, *matrix),
        )
        self.cuda.use(self._device(place))
        self._handle = c_void_p()
        declared(library, "cublasCreate_v2", POINTER(c_void_p))(byref(self._handle))
        declared(library, "cublasSetMathMode", c_void_p, c_int)(self._handle, FULL_PRECISION)

    def _device(self, place: str) -> c_int:
        """The only GPU there is, or the one at that place: virtual machines may show OpenCL and
        CUDA different places."""
        count, device = c_int(), c_int()
        self.cuda.count(byref(count))
        if count.value != 1:
            self.cuda.at_place(byref(device), place.encode())
        return device

    def result(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments after one call. Raises DeviceError."""
        c = given[self.product.c.array].copy()
        with self._resident(given) as arrays:
            self._call(arrays, given)
            self.cuda.wait()
            self.cuda.copy(c.ctypes.data, arrays[self.product.c.array], c.nbytes, TO_HOST)
        return {**given, self.product.c.array: c}

    def times(self, given: Mapping[str, Any], launches: int) -> list[int]:
        """Nanoseconds of each call, between two events of CUDA. Raises DeviceError."""
        with self._resident(given) as arrays, self._events(launches + 1) as events:
            self._call(arrays, given)
            self.cuda.wait()
            with self._gathered():
                self.cuda.record(events[0], None)
                for e in events[1:]:
                    self._call(arrays, given)
                    self.cuda.record(e, None)
            self.cuda.wait()
            return [self._between(*pair) for pair in itertools.pairwise(events)]

    @contextmanager
    def _gathered(self) -> Iterator[None]:
        """What is enqueued inside begins once all of it is: the GPU never waits for the host."""
        complete = threading.Event()

        def waiting(_: Any) -> None:
            complete.wait(PATIENCE)

        wait = HOST_FUNCTION(waiting)
        self.cuda.host_function(None, wait, None)
        try:
            yield
        finally:
            complete.set()
            self.cuda.wait()

    def _between(self, a: c_void_p, b: c_void_p) -> int:
        taken = c_float()  # milliseconds
        self.cuda.elapsed(byref(taken), a, b)
        return round(taken.value * 1e6)

    def _call(self, arrays: Mapping[str, c_void_p], given: Mapping[str, Any]) -> None:
        p, x = self.product, self.product.numbers(given)
        one, keep = byref(self.real(1)), byref(self.real(p.adds))
        kinds = [TRANSPOSED if o.transposed else PLAIN for o in (p.b, p.a)]
        a, b, c = (arrays[o.array] for o in (p.a, p.b, p.c))
        factors = (one, b, x.b, a, x.a)
        self._gemm(self._handle, *kinds, x.n, x.m, x.k, *factors, keep, c, x.c)

    @contextmanager
    def _resident(self, given: Mapping[str, Any]) -> Iterator[dict[str, c_void_p]]:
        """The matrices on the GPU, by name."""
        p, made = self.product, dict[str, c_void_p]()
        try:
            for name in {p.a.array, p.b.array, p.c.array}:
                array: np.ndarray[Any, Any] = given[name]
                made[name] = c_void_p()
                self.cuda.allocate(byref(made[name]), max(1, array.nbytes))
                self.cuda.copy(made[name], array.ctypes.data, array.nbytes, TO_DEVICE)
            yield made
        finally:
            for pointer in made.values():
                self.cuda.free(pointer)

    @contextmanager
    def _events(self, count: int) -> Iterator[list[c_void_p]]:
        events = [c_void_p() for _ in range(count)]
        try:
            for e in events:
                self.cuda.new_event(byref(e))
            yield events
        finally:
            for e in events:
                if e.value is not None:
                    self.cuda.end_event(e)


def cublas(product: Product, place: str) -> CuBLAS:
    """With the libraries that are installed. Raises InputError, DeviceError."""
    os.environ["NVIDIA_TF32_OVERRIDE"] = "0"  # asked by the library before any math mode
    runtime = load("cudart", VERSIONS, INSTALL)
    return CuBLAS(product, place, runtime, load("cublas", VERSIONS, INSTALL))
