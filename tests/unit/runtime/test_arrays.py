"""Array arguments of a compiled kernel: what is laid out as C has it gives the right result, and
anything else is refused before something runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import loopxform as lx
from loopxform.errors import ArgumentError
from loopxform.runtime.arrays import rows_fit
from loopxform.runtime.kernel import CompiledKernel

pytestmark = pytest.mark.device

ROWS = """void f(int n, int m, float B[n][m], const float A[n][m]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      B[i][j] += 2 * A[i][j];
}"""
FLAT = ROWS.replace("float B[n][m]", "float *B").replace("float A[n][m]", "float *A")
FLAT = FLAT.replace("[i][j]", "[i*m + j]")
N, M = 5, 7

Array = np.ndarray[Any, Any]


def compiled(text: str = ROWS, queue: Any = None) -> CompiledKernel:
    return lx.loads(text)["f"].tile(Ty=4, Tx=4, contract=False).compile(queue=queue)


def values() -> tuple[Array, Array]:
    rng = np.random.Generator(np.random.PCG64(3))
    return rng.random((N, M), np.float32), rng.random((N, M), np.float32)


def test_shapes() -> None:
    assert rows_fit((35,), [7], flat=False)
    assert rows_fit((), [], flat=False)
    assert rows_fit((5, 7), [7], flat=False)
    assert not rows_fit((7, 5), [7], flat=False)
    assert not rows_fit((5, 7), [], flat=False)
    assert not rows_fit((5, 1, 7), [7], flat=False)
    assert rows_fit((4, 5, 3), [15], flat=True)
    assert rows_fit((9, 4), [], flat=True)
    assert not rows_fit((5, 4), [5], flat=True)


# ---------------------------------------------------------------- numpy


def misaligned(a: Array) -> Array:
    raw = np.zeros(a.nbytes + 1, np.uint8)[1:]
    return raw.view(a.dtype).reshape(a.shape)


def locked(a: Array) -> Array:
    a = a.copy()
    a.flags.writeable = False
    return a


REFUSED: dict[str, tuple[Callable[[Array], Any], str]] = {
    "turned": (lambda a: a.reshape(M, N), r"shape \(7, 5\), the program .*\[7\]"),
    "wide": (lambda a: np.hstack([a, a[:, :1]]), r"shape \(5, 8\)"),
    "deep": (lambda a: a.reshape(N, 1, M), r"shape \(5, 1, 7\)"),
    "few": (lambda a: a[:-1], "has 28 elements, the program touches 35"),
    "short": (lambda a: a.reshape(-1)[:-1], "has 34 elements"),
    "type": (lambda a: a.astype(np.int32), "must be an array of float32, not int32"),
    "swapped": (lambda a: a.astype(">f4"), "in the byte order of this machine.*, not >f4"),
    "order": (np.asfortranarray, "C-contiguous"),
    "strides": (lambda a: np.hstack([a, a])[:, ::2], "C-contiguous"),
    "backwards": (lambda a: a[::-1], "C-contiguous"),
    "misaligned": (misaligned, "is not aligned"),
    "masked": (np.ma.masked_array, "is masked"),
    "list": (lambda a: a.tolist(), "must be an array or a buffer of float32, not list"),
    "number": (np.sum, "not float32"),
    "bytes": (lambda a: bytearray(a.tobytes()), "not bytearray"),
}


@pytest.mark.parametrize("case", REFUSED)
@pytest.mark.parametrize("name", ["A", "B"])
def test_numpy_arrays_that_are_refused(case: str, name: str) -> None:
    change, message = REFUSED[case]
    a, b = values()
    given = {"n": N, "m": M, "A": a, "B": b}
    given[name] = change(given[name])
    before = b.copy()
    with pytest.raises(ArgumentError, match=f"^{name} .*{message}"):
        compiled()(**given)
    assert np.array_equal(b, before)


def test_read_only_arrays() -> None:
    a, b = values()
    with pytest.raises(ArgumentError, match="B is read-only"):
        compiled()(N, M, locked(b), a)
    expected = b + 2 * a
    compiled()(N, M, b, locked(a))
    assert np.array_equal(b, expected)


@pytest.mark.parametrize("text", [ROWS, FLAT])
def test_flat_memory_and_more_rows_than_needed(text: str) -> None:
    """What lies behind the elements that the program touches keeps its values."""
    a, b = values()
    more = np.concatenate([b, np.full((2, M), 9, np.float32)])
    call = compiled(text)
    for given in (more.copy(), more.reshape(-1).copy()):
        call(N, M, given, a.reshape(-1))
        found = given.reshape(-1, M)
        assert np.array_equal(found[:N], b + 2 * a)
        assert np.array_equal(found[N:], more[N:])


def test_a_plain_pointer_has_the_rows_of_its_subscripts() -> None:
    a, b = values()
    with pytest.raises(ArgumentError, match=r"B has the shape \(7, 5\)"):
        compiled(FLAT)(N, M, b.reshape(M, N), a)
    expected = b + 2 * a
    compiled(FLAT)(N, M, b.reshape(N, M, 1), a)
    assert np.array_equal(b, expected)


def test_arrays_that_overlap() -> None:
    memory = np.arange(100, dtype=np.float32)
    for start in (0, 1, 34):
        with pytest.raises(ArgumentError, match="B and A overlap"):
            compiled()(N, M, memory[:35], memory[start : start + 35])
    expected = memory[:35] + 2 * memory[35:70]
    compiled()(N, M, memory[:35], memory[35:70])
    assert np.array_equal(memory[:35], expected)


def test_arrays_that_are_only_read_may_overlap() -> None:
    text = """void f(int n, float *restrict c, const float *a, const float *b) {
  for (int i = 0; i < n; i++) c[i] = a[i] - b[i];
}"""
    memory, c = np.arange(20, dtype=np.float32) ** 2, np.zeros(10, np.float32)
    compiled(text)(10, c, memory[1:11], memory[:10])
    assert np.array_equal(c, memory[1:11] - memory[:10])
    compiled(text)(10, c, memory[:10], memory[:10])
    assert not c.any()


# ---------------------------------------------------------------- device


@pytest.fixture
def queue() -> Any:
    import pyopencl as cl

    return cl.CommandQueue(cl.create_some_context(interactive=False))


def there(queue: Any, *arrays: Array) -> list[Any]:
    import pyopencl.array as cla

    return [cla.to_device(queue, a) for a in arrays]


DEVICE: dict[str, tuple[Callable[[Any], Any], str]] = {
    "turned": (lambda a: a.T.copy(), "has the shape|C-contiguous"),
    "order": (lambda a: a.T, "C-contiguous"),
    "strides": (lambda a: a[:, ::2], "C-contiguous"),
    "columns": (lambda a: a[:, 1:], "C-contiguous"),
    "offset": (lambda a: a.reshape(-1)[1:], "is a view that does not start its buffer"),
    "type": (lambda a: a.astype(np.float64), "must be an array of float32, not float64"),
    "integers": (lambda a: a.view(np.int32), "must be an array of float32, not int32"),
    "few": (lambda a: a[:-1], "has 28 elements, the program touches 35"),
}


@pytest.mark.opencl
@pytest.mark.parametrize("case", DEVICE)
@pytest.mark.parametrize("name", ["A", "B"])
def test_device_arrays_that_are_refused(queue: Any, case: str, name: str) -> None:
    change, message = DEVICE[case]
    a, b = there(queue, *values())
    given = {"n": N, "m": M, "A": a, "B": b}
    given[name] = change(given[name])
    before = b.get()
    with pytest.raises(ArgumentError, match=f"^{name} .*({message})"):
        compiled(queue=queue)(**given)
    assert np.array_equal(b.get(), before)


@pytest.mark.opencl
def test_arrays_of_another_context(queue: Any) -> None:
    import pyopencl as cl

    a, b = there(queue, *values())
    other = cl.CommandQueue(cl.Context([queue.device]))
    for given in ((b, a), (b.data, a.data)):
        with pytest.raises(ArgumentError, match="in another OpenCL context"):
            compiled(queue=other)(N, M, *given)
        with pytest.raises(ArgumentError, match=r"in another OpenCL context|runs as C"):
            compiled()(N, M, *given)


@pytest.mark.opencl
def test_arrays_of_another_queue_are_waited_for(queue: Any) -> None:
    import pyopencl as cl

    other = cl.CommandQueue(queue.context)
    gate = cl.UserEvent(queue.context)
    a, b = there(other, *values())
    expected = 2 * b.get() + 2 * a.get()
    call = compiled(queue=queue)
    cl.enqueue_marker(other, wait_for=[gate])
    b *= 2  # behind the gate, in the other queue
    _after(0.2, lambda: gate.set_status(cl.command_execution_status.COMPLETE))
    call(N, M, b, a)
    assert np.array_equal(b.get(), expected)


def _after(seconds: float, do: Callable[[], object]) -> None:
    from threading import Timer

    Timer(seconds, do).start()


@pytest.mark.opencl
def test_buffers(queue: Any) -> None:
    import pyopencl as cl

    a, b = values()
    flags = cl.mem_flags
    call = compiled(queue=queue)

    def buffer(how: int, data: Array) -> Any:
        return cl.Buffer(queue.context, how | flags.COPY_HOST_PTR, hostbuf=data)

    read, both = buffer(flags.READ_ONLY, a), buffer(flags.READ_WRITE, b)
    call(N, M, both, read)
    found = np.empty_like(b)
    cl.enqueue_copy(queue, found, both)
    assert np.array_equal(found, b + 2 * a)
    with pytest.raises(ArgumentError, match="B is read-only for kernels"):
        call(N, M, buffer(flags.READ_ONLY, b), read)
    with pytest.raises(ArgumentError, match="A is write-only for kernels"):
        call(N, M, both, buffer(flags.WRITE_ONLY, a))
    with pytest.raises(ArgumentError, match="A has 34 elements"):
        call(N, M, both, buffer(flags.READ_ONLY, a.reshape(-1)[:-1]))


@pytest.mark.opencl
def test_device_memory_that_overlaps(queue: Any) -> None:
    import pyopencl as cl
    import pyopencl.array as cla

    call = compiled(queue=queue)
    a, _ = there(queue, *values())
    with pytest.raises(ArgumentError, match="B and A overlap"):
        call(N, M, a, a)
    whole = cl.Buffer(queue.context, cl.mem_flags.READ_WRITE, 4096)
    first, second = whole.get_sub_region(0, 2048), whole.get_sub_region(1024, 2048)
    for x, y in ((whole, first), (first, second), (second, whole)):
        with pytest.raises(ArgumentError, match="B and A overlap"):
            call(N, M, x, y)
    call(N, M, first, whole.get_sub_region(2048, 2048))
    shared = cla.Array(queue, (N, M), np.float32, data=whole)
    with pytest.raises(ArgumentError, match="B and A overlap"):
        call(N, M, shared, first)


@pytest.mark.opencl
def test_buffers_in_host_memory_overlap_it(queue: Any) -> None:
    import pyopencl as cl

    memory = np.zeros(1024, np.float32)
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.USE_HOST_PTR
    low, high = (cl.Buffer(queue.context, flags, hostbuf=memory[k:]) for k in (0, 16))
    call = compiled(queue=queue)
    with pytest.raises(ArgumentError, match="B and A overlap"):
        call(N, M, low, high)
    with pytest.raises(ArgumentError, match="B and A overlap"):
        call(N, M, low, memory[512:])


@pytest.mark.opencl
def test_empty_device_arrays(queue: Any) -> None:
    import pyopencl.array as cla

    empty = cla.empty(queue, (0, M), np.float32)
    compiled(queue=queue)(0, M, empty, empty)
    with pytest.raises(ArgumentError, match="B has 0 elements"):
        compiled(queue=queue)(1, M, empty, empty)
