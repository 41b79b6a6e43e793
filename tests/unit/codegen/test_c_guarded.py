"""The C for the CPU means what the user's C means, also where arrays overlap or sizes are not what
the analysis assumed: it asks first, and falls back to the user's loops."""

from __future__ import annotations

import ctypes
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import loopxform as lx
from loopxform.codegen import emit
from loopxform.codegen.host import guards
from loopxform.errors import EmitError
from loopxform.ir.evaluate import evaluate
from loopxform.ir.nodes import Const

FLAGS = ["-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror", "-Wno-unknown-pragmas"]
LIBRARY = ["-O1", "-ffp-contract=off", "-fopenmp", "-fwrapv", "-fPIC", "-shared"]

SKEWED = """void f(int n, int m, float *a, const float *b) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      a[i*m + j] = 2 * b[i*m + j] + 1;
}"""
TURNED = ("stripmine i 4", "interchange i j")
MM = """void f(int n, const float *A, const float *B, float *C) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      float acc = 0;
      for (int k = 0; k < n; k++) acc += A[i*n + k] * B[k*n + j];
      C[i*n + j] = acc;
    }
}"""


def written(text: str, *steps: str) -> str:
    derivation = lx.loads(text)["f"].apply(*steps)
    return one(emit.openmp(derivation, stem="f", origin="f.c", version="test"))


def tiled(text: str) -> str:
    return one(lx.loads(text)["f"].tile(Ty=2, Tx=2, Tk=4, Ry=2, Rx=2).openmp)


def one(emitted: emit.Emitted) -> str:
    (text,) = emitted.files.values()
    return text


class Pair:
    """The user's function and the one in the emitted file, each in a library of its own. `more` is
    C that both need (definitions of globals, access to them)."""

    def __init__(self, folder: Path, user: str, emitted: str, more: str = "") -> None:
        self.before = self._library(folder, "before", user, "")
        self.after = self._library(folder, "after", emitted, more)

    def _library(self, folder: Path, name: str, text: str, more: str) -> Any:
        (folder / f"{name}.c").write_text(f"{text}\n{more}\n")
        command = ["cc", *FLAGS, *LIBRARY, f"{name}.c", "-o", f"{name}.so", "-lm"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return ctypes.CDLL(str(folder / f"{name}.so"))

    def same(self, memory: np.ndarray[Any, Any], *args: Any) -> None:
        """Runs both on copies of `memory`; `At(k)` among the arguments is the address of its
        element k."""
        results = []
        for library in (self.before, self.after):
            copy = memory.copy()
            library.f(*(_address(copy, a.index) if isinstance(a, At) else a for a in args))
            results.append(copy.view(np.uint8))
        assert np.array_equal(*results), args


class At:
    def __init__(self, index: int) -> None:
        self.index = index

    def __repr__(self) -> str:
        return f"At({self.index})"


def _address(array: np.ndarray[Any, Any], index: int) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data + index * array.itemsize)


def numbers(n: int = 600) -> np.ndarray[Any, Any]:
    return np.random.Generator(np.random.PCG64(7)).random(n, np.float32)


# ---------------------------------------------------------------- overlapping arrays


@pytest.mark.parametrize("distance", [-200, -60, -6, -5, -1, 0, 1, 5, 6, 60, 200])
def test_arrays_that_overlap(tmp_path: Path, distance: int) -> None:
    pair = Pair(tmp_path, SKEWED, written(SKEWED, *TURNED))
    pair.same(numbers(), 10, 6, At(250), At(250 + distance))


def test_the_question_decides(tmp_path: Path) -> None:
    """Without it the order of the loops shows."""
    text = written(SKEWED, *TURNED).replace("if (!lx_apart(", "if (0 && !lx_apart(")
    pair = Pair(tmp_path, SKEWED, text)
    pair.same(numbers(), 10, 6, At(250), At(350))
    with pytest.raises(AssertionError, match="At"):
        pair.same(numbers(), 10, 6, At(250), At(245))


@pytest.mark.parametrize("offsets", [(0, 50, 100), (0, 50, 3), (0, 50, 60), (10, 10, 11)])
def test_a_tiled_product_in_place(tmp_path: Path, offsets: tuple[int, int, int]) -> None:
    pair = Pair(tmp_path, MM, tiled(MM))
    for n in (0, 1, 7):
        pair.same(numbers(), n, *map(At, offsets))


def test_a_variable_of_the_file_behind_a_pointer(tmp_path: Path) -> None:
    user = """extern float scale;
void f(int n, int m, float *a) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      a[i*m + j] = scale * (i + j + 2);
}"""
    emitted = written(user, *TURNED, "parallelise j")
    assert "lx_apart(a, lx_bytes_a, &scale, sizeof scale)" in emitted
    more = "float scale;\nfloat run(void);\n"
    more += "float run(void) { scale = 3; f(1, 1, &scale); f(1, 1, &scale); return scale; }\n"
    pair = Pair(tmp_path, f"{user}\n{more}", emitted, more)
    for library in (pair.before, pair.after):
        library.run.restype = ctypes.c_float
        assert library.run() == 12


def test_pointers_of_the_file(tmp_path: Path) -> None:
    """They stay pointers, and are asked about like those of the prototype."""
    user = """extern float *p;
void f(int n, int m, float *a) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      a[i*m + j] = 2 * p[i*m + j] + 1;
}"""
    emitted = written(user, *TURNED)
    assert "extern float *p;" in emitted
    more = "float *p;\nvoid set(float *);\nvoid set(float *x) { p = x; }\n"
    pair = Pair(tmp_path, f"{user}\n{more}", emitted, more)
    for distance in (-5, 0, 100):
        results = []
        for library in (pair.before, pair.after):
            memory = numbers()
            library.set(_address(memory, 250 + distance))
            library.f(10, 6, _address(memory, 250))
            results.append(memory)
        assert np.array_equal(*results)


# ---------------------------------------------------------------- sizes


def test_shapes_that_do_not_hold(tmp_path: Path) -> None:
    """Rows of m elements, n apart: for m > n they overlap."""
    text = """int f(int n, int m, float *a) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      a[i*n + j] = 10 * i + j;
  return n + 1;
}"""
    emitted = written(text, *TURNED)
    assert "m <= n does not hold" in emitted
    pair = Pair(tmp_path, text, emitted)
    for n, m in ((5, 5), (5, 4), (5, 9), (2, 40), (1, 1)):
        pair.same(numbers(), n, m, At(0))
    assert pair.after.f(5, 4, _address(numbers(), 0)) == 6


def test_bounds_at_the_end_of_int(tmp_path: Path) -> None:
    text = """void f(int lo, int n, float *restrict a) {
  for (int i = lo; i < n; i++)
    a[i - lo] = 3;
}"""
    emitted = written(text, "stripmine i 64")
    end = 2**31 - 1
    assert "too near the end of int" in emitted
    pair = Pair(tmp_path, text, emitted)
    for lo, n in ((0, 100), (end - 5, end), (-3, -8), (-200, -100)):
        pair.same(numbers(), lo, n, At(0))


def test_bounds_that_are_far_apart(tmp_path: Path) -> None:
    """hi - lo, which the user's program never computes, may overflow."""
    text = """void f(int lo, int hi, float *restrict a) {
  for (int i = lo; i < hi; i++)
    a[i - lo] = i;
}"""
    pair = Pair(tmp_path, text, written(text, "normalise i"))
    for lo, hi in ((-3, 5), (2 * 10**9, -2 * 10**9), (2**31 - 1, -(2**31))):
        pair.same(numbers(), lo, hi, At(0))


def test_sizes_of_64_bits(tmp_path: Path) -> None:
    """The guard itself computes nothing that overflows."""
    text = """#include <stddef.h>
void f(size_t n, size_t m, float *a, const float *b) {
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < m; j++)
      a[i*m + j] = 2 * b[i*m + j];
}"""
    emitted = written(text, *TURNED)
    assert "n does not fit an int" in emitted
    pair = Pair(tmp_path, text, emitted)
    size = ctypes.c_size_t
    for n, m in ((10, 6), (0, 2**64 - 1), (0, 2**63), (0, 0)):
        pair.same(numbers(), size(n), size(m), At(250), At(245))


# ---------------------------------------------------------------- nothing to ask


def test_nothing_to_ask() -> None:
    apart = SKEWED.replace("*a", "*restrict a")
    assert "as_written" not in written(apart, "interchange i j")
    globals_ = """float a[8][8], b[8][8];
void f(void) { for (int i = 0; i < 8; i++) for (int j = 0; j < 8; j++) a[i][j] = b[j][i]; }"""
    assert "as_written" not in written(globals_, "interchange i j")
    assert "as_written" not in written(SKEWED)
    assert "lx_apart" not in written(SKEWED, "stripmine j 8")


def test_what_cannot_be_asked_is_refused() -> None:
    text = """void f(int n, const int *at, float *y, const float *x) {
  for (int i = 0; i < n; i++)
    y[i] = x[at[i]];
}"""
    with pytest.raises(EmitError) as e:
        written(text, "parallelise i")
    assert "how much of 'x' is touched cannot be told" in e.value.message
    assert "restrict" in (e.value.help or "")
    assert "lx_apart" not in written(text, "stripmine i 8", "unroll i 2")
    assert "#pragma omp" in written(text.replace("*y", "*restrict y"), "parallelise i")
    inside = """struct s { float *x, *y; };
void f(int n, const int *restrict at, struct s s) {
  for (int i = 0; i < n; i++) s.y[i] = s.x[at[i]];
}"""
    with pytest.raises(EmitError, match=r"how much of 's\.x' is touched"):
        written(inside, "parallelise i")


def test_loops_that_count_down_end_in_the_range_of_int() -> None:
    """Such loops over tiles come from no step of today, but the condition is said for them too."""
    start = lx.loads("void f(int n, float *a) { for (int i = 7; i > n; i--) a[i] = i; }")["f"]
    (loop,) = start.function.body
    tiles = replace(start.function, body=(replace(loop, step=Const(-16)),))
    (found,) = guards.conditions(start.function, tiles)
    least = -(2**31)
    assert [evaluate(found.expr, {"n": least + k}) for k in (17, 16, 2**32 - 1)] == [1, 0, 1]


@pytest.mark.parametrize(
    ("loops", "undone"),
    [
        (
            "for (unsigned ii = 0; ii + 50 < u; ii += 32)"
            " for (unsigned i = ii; i < ii + 32; i++) a[i] += 1;",
            "unstripmine ii i",
        ),
        ("for (unsigned i = 0; i + 50 < u; i += 2) { a[i] += 1; a[i + 1] += 1; }", "reroll i"),
    ],
)
def test_loops_that_were_done_by_hand(tmp_path: Path, loops: str, undone: str) -> None:
    """Where what their undoing assumes does not hold, the loops of the user's text run."""
    text = f"void f(unsigned u, float *a) {{ {loops} }}"
    pair = Pair(tmp_path, text, written(text, undone))
    for u in (0, 3, 49, 51, 52, 82, 83, 200):
        pair.same(numbers(), ctypes.c_uint(u), At(0))
