"""loopxform from Python: load, check, apply, tile, write, compile, call."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import loopxform as lx
from loopxform.errors import (
    ArgumentError,
    InputError,
    LimitError,
    TransformError,
    UnsupportedC,
    UsageError,
)
from loopxform.transforms import Interchange, Stripmine

MM = Path(__file__).parents[1] / "corpus" / "mm.c"
SEED = 20200608
M, U, N = 21, 19, 17

Arrays = tuple[np.ndarray[Any, Any], np.ndarray[Any, Any], np.ndarray[Any, Any]]


@pytest.fixture
def mm() -> lx.Routine:
    return lx.load(MM)["mm"]


def arrays() -> Arrays:
    rng = np.random.Generator(np.random.PCG64(SEED))
    a = rng.random((M, U), np.float32)
    b = rng.random((U, N), np.float32)
    return a, b, np.full((M, N), np.nan, np.float32)


def in_order(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The product with the sums of the C program: one rounding a step, k ascending."""
    c = np.zeros((M, N), np.float32)
    for k in range(U):
        c += a[:, k : k + 1] * b[k : k + 1, :]
    return c


# ---------------------------------------------------------------- reading and checking


def test_load_and_loads() -> None:
    file = lx.load(MM)
    assert (file.stem, [r.name for r in file]) == ("mm", ["mm"])
    text = "void f(float a[N]) { for (int i = 0; i < N; i++) a[i] = 1; }"
    assert lx.loads(text, define=["N=8"]).routine().name == "f"
    with pytest.raises(InputError, match="there is no function 'g'"):
        lx.loads(text, define=["N=8"])["g"]
    with pytest.raises(InputError) as e:
        lx.loads("void f(int n) {\n  for (int i = 0; i < n; i++\n}\n", "broken.c")
    assert "broken.c:3:1" in e.value.render()
    assert " 3 | }" in e.value.render()


def test_check(mm: lx.Routine) -> None:
    assert [(v.var, v.parallel) for v in mm.check()] == [
        ("i", "yes"),
        ("j", "yes"),
        ("k", "reduction"),
    ]
    assert "flow    acc (+)" in mm.matrix()


def test_apply_takes_steps_and_text(mm: lx.Routine) -> None:
    a = mm.apply(Stripmine("i", "T"), Interchange("i", "j"), tiles={"T": 8})
    assert a.function == mm.apply("stripmine i T", "interchange i j", tiles={"T": 8}).function
    with pytest.raises(UsageError, match="'turn' is not a step"):
        mm.apply("turn i")
    with pytest.raises(TransformError) as e:
        mm.apply("parallelise k")
    assert "acc += A[i][k] * B[k][j];" in e.value.render()


# ---------------------------------------------------------------- tiling


def test_tile_and_write(mm: lx.Routine, tmp_path: Path) -> None:
    tiled = mm.tile(Ty=4, Tx=4, Tk=4, Ry=2, Rx=2)
    assert tiled.tiled.recipe == "register"
    assert "A_loc = A[iii : iii + Ty*Ry, kk : kk + Tk]" in tiled.listing
    written = tiled.write(tmp_path / "build")
    assert sorted(p.name for p in written) == ["mm.cl", "mm_opencl.c", "mm_opencl.h"]
    assert (tmp_path / "build" / "mm.cl").read_text() == tiled.kernel
    assert "#pragma omp" in tiled.openmp.files["mm_openmp.c"]


def test_what_cannot_be_tiled(mm: lx.Routine) -> None:
    with pytest.raises(ArgumentError, match="there is no argument 'Tw'"):
        mm.tile(Tw=4)
    for bad in (0, -1, 2.5):
        with pytest.raises(ArgumentError, match="Ty must be a whole number"):
            mm.tile(Ty=bad)  # type: ignore[arg-type]
    with pytest.raises(LimitError, match="does not fit h100"):
        mm.tile(Ty=64, Tx=64, limits="h100")
    with pytest.raises(UsageError, match="no device profile"):
        mm.tile(limits="abacus")
    recurrence = lx.loads(
        "void f(int n, float a[n]) { for (int i = 1; i < n; i++) a[i] = a[i - 1]; }"
    )
    with pytest.raises(UnsupportedC, match="can run in parallel"):
        recurrence["f"].tile()


# ---------------------------------------------------------------- calling


@pytest.mark.device
def test_numpy_arrays(mm: lx.Routine) -> None:
    a, b, c = arrays()
    call = mm.tile(Ty=4, Tx=4, Tk=4, Ry=2, Rx=2, contract=False).compile()
    call(M, U, N, a, b, c)
    assert np.array_equal(c, in_order(a, b))
    c[:] = 0
    call(M=M, U=U, N=N, A=a, B=b, C=c)
    assert np.array_equal(c, in_order(a, b))
    assert call.nanoseconds


@pytest.mark.opencl
def test_device_arrays_stay_on_the_device(mm: lx.Routine) -> None:
    import pyopencl as cl
    import pyopencl.array

    context = cl.create_some_context(interactive=False)
    queue = cl.CommandQueue(context)
    a, b, c = arrays()
    there = [cl.array.to_device(queue, x) for x in (a, b, c)]
    call = mm.tile(Ty=4, Tx=4, Tk=4, Ry=2, Rx=2, contract=False).compile(queue=queue)
    call(M, U, N, *there)
    assert np.array_equal(there[2].get(), in_order(a, b))
    assert np.isnan(c).all()


Change = Callable[[dict[str, Any]], None]


def put(name: str, value: object) -> Change:
    return lambda given: given.__setitem__(name, value)


def share(given: dict[str, Any]) -> None:
    given["C"] = given["A"].reshape(-1)[: M * N].reshape(M, N)


WRONG: dict[str, tuple[Change, str]] = {
    "missing": (lambda given: given.__delitem__("B"), "mm is called without its argument 'B'"),
    "unknown": (put("D", 1), "has no argument 'D'"),
    "dtype": (put("A", np.zeros((M, U))), "A must be an array of float32, not float64"),
    "order": (put("A", np.zeros((U, M), np.float32).T), "A must be a C-contiguous array"),
    "small": (put("B", np.zeros((U - 1, N), np.float32)), "B has 306 elements.* touches 323"),
    "list": (put("A", [1.0] * (M * U)), "A "),
    "none": (put("C", None), "C "),
    "overlap": (share, "A and C overlap"),
}


@pytest.mark.device
@pytest.mark.parametrize("case", WRONG)
def test_wrong_arguments(mm: lx.Routine, case: str) -> None:
    change, message = WRONG[case]
    a, b, c = arrays()
    given: dict[str, Any] = {"M": M, "U": U, "N": N, "A": a, "B": b, "C": c}
    change(given)
    call = mm.tile(Ty=4, Tx=4, Tk=4, Ry=2, Rx=2).compile()
    with pytest.raises(ArgumentError, match=message):
        call(**given)


@pytest.mark.device
def test_read_only_results(mm: lx.Routine) -> None:
    a, b, c = arrays()
    c.flags.writeable = False
    call = mm.tile(Ty=4, Tx=4, Tk=4, Ry=2, Rx=2).compile()
    with pytest.raises(ArgumentError, match="C is read-only"):
        call(M, U, N, a, b, c)
    with pytest.raises(ArgumentError, match="takes 6 arguments, 7 are given"):
        call(M, U, N, a, b, c, 1)


@pytest.mark.device
def test_copies_in_other_layouts() -> None:
    routine = lx.load(MM.parent / "nests" / "best_shift.c").routine()
    assert "x_t[k, i]" in routine.tile().listing
    assert "x_t" not in routine.tile(relayout={}).listing
    made = routine.tile(relayout={"bank": (1, 0)})
    assert "bank_t[k, s]" in made.listing
    x, bank = (np.random.default_rng(SEED).random(s, np.float32) for s in ((M, U), (N, U)))
    best, at = np.empty(M, np.float32), np.empty(M, np.int32)
    made.compile()(M, N, U, x, bank, best, at)
    assert np.allclose(best, (x @ bank.T).max(axis=1), rtol=1e-4)
    with pytest.raises(TransformError, match="'2,0' is not another order of the 2 dimensions"):
        routine.tile(relayout={"bank": (2, 0)})


@pytest.mark.opencl
def test_device_arrays_that_do_not_fit(mm: lx.Routine) -> None:
    import pyopencl as cl
    import pyopencl.array

    queue = cl.CommandQueue(cl.create_some_context(interactive=False))
    call = mm.tile(Ty=4, Tx=4, Tk=4, Ry=2, Rx=2).compile(queue=queue)
    a, b, c = (cl.array.to_device(queue, x) for x in arrays())
    small = cl.array.zeros(queue, (M, N - 1), np.float32)
    with pytest.raises(ArgumentError, match="C has 336 elements, the program touches 357"):
        call(M, U, N, a, b, small)
    with pytest.raises(ArgumentError, match="A and C overlap"):
        call(M, U, N, a, b, a.reshape(-1))
    raw = cl.Buffer(queue.context, cl.mem_flags.READ_WRITE, 4 * M * N - 4)
    with pytest.raises(ArgumentError, match="C has 356 elements"):
        call(M, U, N, a, b, raw)
    call(M, U, N, a, b, c)
