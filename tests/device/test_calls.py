"""Calls of compiled kernels at their limits: sizes that run nothing, sizes that cannot be, several
threads, several contexts. What C does is done, or the call is refused."""

from __future__ import annotations

import copy
import sys
from threading import Thread
from typing import Any

import numpy as np
import pytest

import loopxform as lx
from loopxform.errors import ArgumentError
from loopxform.runtime.kernel import CompiledKernel
from loopxform.verify.cref import CSource, run_reference

pytestmark = pytest.mark.device

MM = """void f(int M, int U, int N, float A[M][U], float B[U][N], float C[M][N]) {
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      float acc = 0;
      for (int k = 0; k < U; k++) acc += A[i][k] * B[k][j];
      C[i][j] = acc;
    }
}"""
LONG = """void f(long n, long m, float *a) {
  for (long i = 0; i < n; i++)
    for (long j = 0; j < m; j++)
      a[i*m + j] = i + j;
}"""
FROM_TO = "void f(int lo, int hi, float *a) { for (int i = lo; i < hi; i++) a[i - lo] = i; }"
END = 2**31 - 1


def compiled(text: str, queue: Any = None) -> CompiledKernel:
    sizes = {"Ty": 4, "Tx": 4, "Tk": 4, "Ry": 2, "Rx": 2} if text == MM else {}
    return lx.loads(text)["f"].tile(contract=False, **sizes).compile(queue=queue)


def check(text: str, **args: Any) -> None:
    """Fails unless the kernel leaves every array as the user's C does."""
    expected = copy.deepcopy(args)
    run_reference(CSource(text=text), lx.loads(text)["f"].function, expected)
    compiled(text)(**args)
    for name, value in args.items():
        assert np.array_equal(value, expected[name], equal_nan=True), name


def numbers(*shape: int) -> np.ndarray[Any, Any]:
    return np.random.Generator(np.random.PCG64(1)).random(shape, np.float32)


@pytest.mark.parametrize(
    ("m", "u", "n"), [(1, 1, 1), (0, 3, 3), (3, 0, 3), (3, 3, 0), (0, 0, 0), (1, 17, 1)]
)
def test_no_iteration_and_one(m: int, u: int, n: int) -> None:
    check(MM, M=m, U=u, N=n, A=numbers(m, u), B=numbers(u, n), C=numbers(m, n))


@pytest.mark.parametrize(("m", "u", "n"), [(-1, 3, 3), (3, -1, 3), (3, 3, -1), (-5, -5, -5)])
@pytest.mark.parametrize("shape", [(3, 3), (9,)])
def test_negative_sizes_run_nothing(m: int, u: int, n: int, shape: tuple[int, ...]) -> None:
    check(MM, M=m, U=u, N=n, A=numbers(*shape), B=numbers(*shape), C=numbers(*shape))


@pytest.mark.parametrize(
    ("m", "u", "n"),
    [(END, END, END), (END, 1, 1), (END - 99, 1, 1), (1 << 16,) * 3, (1 << 30, 1, 4)],
)
def test_sizes_no_array_has(m: int, u: int, n: int) -> None:
    with pytest.raises(ArgumentError, match=r"too near the end of int|the program touches"):
        compiled(MM)(m, u, n, numbers(9), numbers(9), numbers(9))


def test_sizes_of_64_bits() -> None:
    for n, m in ((3, 4), (0, 4), (-1, -1)):
        check(LONG, n=n, m=m, a=numbers(12))
    for n, m in ((1 << 40, 1 << 40), (1 << 63, 1), (0, 1 << 62), (-(1 << 63), (1 << 63) - 1)):
        with pytest.raises(ArgumentError, match=r"does not fit an int|must be from"):
            compiled(LONG)(n, m, numbers(12))


def test_ranges_anywhere_in_int() -> None:
    for lo, hi in ((-3, 5), (5, -5), (-END - 1, -END + 7)):
        check(FROM_TO, lo=lo, hi=hi, a=numbers(8))
    for lo, hi in ((END - 5, END), (-END, END - 1000), (END, -END)):
        with pytest.raises(ArgumentError, match=r"too near the end of int|overflows"):
            compiled(FROM_TO)(lo, hi, numbers(8))


def test_a_call_that_is_refused_changes_nothing() -> None:
    call = compiled(MM)
    a, c = numbers(3, 3), numbers(3, 3)
    before = c.copy()
    for bad in (None, a.astype("f8"), a.T, a[:2]):
        with pytest.raises(ArgumentError):
            call(3, 3, 3, a, bad, c)
    assert np.array_equal(c, before)
    call(3, 3, 3, a, np.eye(3, dtype=np.float32), c)
    assert np.array_equal(c, a)


def test_threads_share_a_kernel() -> None:
    call = compiled(MM)
    wrong: list[Any] = []

    def work(seed: int) -> None:
        rng = np.random.Generator(np.random.PCG64(seed))
        for _ in range(40):
            m, u, n = (int(x) for x in rng.integers(1, 30, 3))
            a, b = (rng.integers(0, 9, s).astype(np.float32) for s in ((m, u), (u, n)))
            c = np.zeros((m, n), np.float32)
            call(m, u, n, a, b, c)
            if not np.array_equal(c, a @ b):
                wrong.append((seed, m, u, n))

    threads = [Thread(target=work, args=(seed,)) for seed in range(4)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)  # between any two steps of a launch
    try:
        for t in threads:
            t.start()
        for t in threads:
            t.join()
    finally:
        sys.setswitchinterval(interval)
    assert not wrong


@pytest.mark.opencl
def test_one_routine_in_two_contexts() -> None:
    import pyopencl as cl
    import pyopencl.array as cla

    device = cl.create_some_context(interactive=False).devices[0]
    queues = [cl.CommandQueue(cl.Context([device])) for _ in range(2)]
    calls = [compiled(MM, q) for q in queues]
    a, b = numbers(5, 6), numbers(6, 7)
    found = []
    for q, call in zip(queues, calls):
        there = [cla.to_device(q, x) for x in (a, b, np.zeros((5, 7), np.float32))]
        call(5, 6, 7, *there)
        found.append(there[2].get())
    assert np.array_equal(*found)
    assert np.allclose(found[0], a @ b)


@pytest.mark.opencl
def test_where_to_compile() -> None:
    import pyopencl as cl

    tiled = lx.loads(FROM_TO)["f"].tile()
    context = cl.create_some_context(interactive=False)
    for wrong in ({"queue": context}, {"queue": cl.CommandQueue(context), "device": "0"}):
        with pytest.raises(TypeError, match="compile takes a device, or a"):
            tiled.compile(**wrong)
