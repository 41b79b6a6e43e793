"""Tiled C for a CPU: how it is laid out for vectors, and that it means what the user's C means."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest
from conftest import Golden
from deriving import CORPUS

import loopxform as lx
from loopxform.errors import LimitError
from loopxform.verify.check_run import arguments
from loopxform.verify.compare import require_equal
from loopxform.verify.cref import CSource, Library

SMALL = {"Ty": 2, "Tx": 2, "Tk": 4, "Ry": 3, "Rx": 4}
STRICT = ["-std=c99", "-fopenmp", "-Wall", "-Wextra", "-pedantic", "-Werror", "-fsyntax-only"]
FAST = ("-O3", "-ffp-contract=off", "-fopenmp")
CHECKED = ["-g", "-O1", "-fopenmp", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
CUBE = {"M": 11, "U": 9, "N": 13}

NESTS: dict[str, Mapping[str, int | float]] = {
    "mm": CUBE,
    "mm_at": CUBE,
    "mm_bt": CUBE,
    "gemm": {**CUBE, "alpha": 1.5, "beta": 0.5},
    "batched": {"P": 2, **CUBE},
    "correlation": CUBE,
    "covariance": {"N": 9, "M": 13},
    "max_if": CUBE,
    "mm_flat": CUBE,
    "mm_int_div": CUBE,
    "nests/gemm_double": {**CUBE, "alpha": 1.5, "beta": 0.5},
    "nests/min_plus": {"n": 11, "m": 13, "u": 9},
    "nests/filter_7x7": {"h": 11, "w": 13},
    "nests/heat_2d": {"n": 11, "m": 13, "c": 0.1},
    "nests/matvec": {"n": 11, "m": 13},
    "nests/triangular_product": {"n": 11, "m": 13},
    "nests/complex_product": {"n": 11, "m": 13, "u": 9},
}


WITH_ITS_OWN = (
    *("mm", "mm_at", "batched", "mm_int_div", "nests/filter_7x7", "nests/triangular_product"),
    "nests/complex_product",
)
"""Nests that also run with the sizes of the profile."""


def text_of(name: str, **sizes: int) -> str:
    (routine,) = lx.load(CORPUS / f"{name}.c")
    (text,) = routine.tile(limits="cpu", **sizes).openmp.files.values()
    return text


def functions(text: str) -> dict[str, str]:
    """Each function of a file by its name."""
    found = re.findall(r"^(?:static )?\w+ (\w+)\(.*?^\}", text, re.M | re.S)
    bodies = re.findall(r"^(?:static )?\w+ \w+\(.*?^\}", text, re.M | re.S)
    return dict(zip(found, bodies))


# ---------------------------------------------------------------- how it is laid out


def test_a_product(golden: Golden) -> None:
    found = functions(text_of("mm", **SMALL))
    names = ("mm_transformed_tile", "mm_transformed_tile_2", "mm_transformed")
    golden.check("\n\n".join(found[n] for n in names) + "\n")


def test_the_lanes_of_a_vector_are_innermost_and_of_constant_number() -> None:
    tile = functions(text_of("mm"))["mm_transformed_tile"]
    lines = [line.strip() for line in tile.splitlines()]
    at = next(n for n, line in enumerate(lines) if "+=" in line and "acc" in line)
    assert lines[at - 3 : at] == [
        "for (int i = 0; i < Ry; i++) {",
        "#pragma omp simd",
        "for (int j = 0; j < Rx; j++) {",
    ]


@pytest.mark.parametrize("name", ["mm", "mm_at", "mm_bt"])
def test_lanes_read_neighbours_of_packed_tiles(name: str) -> None:
    """Whatever the layout of the array, the last subscript of B's tile moves with the lane, and
    that of A's tile does not depend on it."""
    tile = functions(text_of(name))[f"{name}_transformed_tile"]
    (b,) = re.findall(r"\* (B_loc\[.*?\]\[.*?\]);", tile)
    assert b == "B_loc[k][jj + j - jjj]"
    (a,) = re.findall(r"A_loc\[[^;]*?\]\[[^;]*?\](?= \*)", tile)
    assert "j" not in a.removeprefix("A_loc")


def test_tiles_are_restrict_and_arrays_of_the_caller_are_not() -> None:
    head = functions(text_of("covariance"))["covariance_transformed_tile"].splitlines()[0]
    assert "double mean[M]" in head
    assert head.count("[restrict ") == 3
    assert re.search(r"acc\[restrict 16\]\[8\]\[6\]\[8\]", head)


def test_what_is_changed_outside_stays_where_it_is() -> None:
    """The results of a group are written to the caller's array in place."""
    text = text_of("mm")
    changing = [n for n, body in functions(text).items() if re.search(r"\bC\[\w.*?\] =", body)]
    assert changing == ["mm_as_written", "mm_transformed"]


def test_threads_share_the_loops_over_groups() -> None:
    assert "#pragma omp parallel for collapse(2) schedule(dynamic)\n" in text_of("mm")
    assert "#pragma omp parallel for collapse(3) schedule(dynamic)\n" in text_of("batched")
    assert "#pragma omp parallel for collapse(2)\n" in text_of("nests/heat_2d")


def test_what_is_valid_is_packed_without_a_test() -> None:
    body = functions(text_of("mm"))["mm_transformed"]
    assert "c1_end = jjj < N ? LX_MIN(Tx*Rx, N - jjj) : 0; c1 < c1_end; c1++)" in body
    assert "B_loc[c0][c1] = B[kk + c0][jjj + c1];" in body
    assert "B_loc[c0][c1] = B[kk + c0][N - 1];" in body


# ---------------------------------------------------------------- sizes


def sizes_of(name: str, profile: str) -> dict[str, int]:
    (routine,) = lx.load(CORPUS / f"{name}.c")
    return routine.tile(limits=profile).sizes


def test_results_fill_the_vector_registers() -> None:
    """Ry rows of two vectors, an operand of two vectors, one for what comes from the rows."""
    for name, lanes in (("mm", 8), ("nests/gemm_double", 4)):
        sizes = sizes_of(name, "cpu")
        assert sizes["Rx"] == 2 * lanes
        assert 2 * sizes["Ry"] + 2 + 1 <= 16 < 2 * (sizes["Ry"] + 1) + 2 + 1
    assert sizes_of("mm", "avx512")["Rx"] == 32


def test_what_needs_more_registers_is_refused(golden: Golden) -> None:
    with pytest.raises(LimitError) as refused:
        text_of("mm", Ry=8, Rx=16)
    e = refused.value
    golden.check("\n".join([e.message, *e.notes, e.help or ""]) + "\n")


def test_caches_serve_stencils() -> None:
    (routine,) = lx.load(CORPUS / "nests/filter_7x7.c")
    assert routine.tile(limits="cpu").tiled.recipe == "naive"
    assert routine.tile(limits="generic").tiled.recipe == "stencil"


# ---------------------------------------------------------------- what it computes


@pytest.mark.parametrize(
    ("name", "sizes"),
    [*((name, SMALL) for name in NESTS), *((name, {}) for name in WITH_ITS_OWN)],
    ids=str,
)
def test_bit_identical_to_the_c_program(name: str, sizes: dict[str, int]) -> None:
    (routine,) = lx.load(CORPUS / f"{name}.c")
    fn = routine.function
    used = {n: v for n, v in sizes.items() if n in routine.tile(limits="cpu").sizes}
    text = text_of(name, **used)
    written = Library(CSource(str(CORPUS / f"{name}.c")), [fn])
    ours = Library(CSource(text=text, flags=FAST), [fn])
    scale = (1, 3) if used or not sizes else (1,)
    for factor in scale:
        given = {n: v * factor if isinstance(v, int) else v for n, v in NESTS[name].items()}
        inputs = arguments(fn, given, factor)
        results = []
        for library in (written, ours):
            results.append({n: v.copy() if hasattr(v, "copy") else v for n, v in inputs.items()})
            library.run(fn.name, results[-1])
        require_equal(*results)


@pytest.mark.parametrize("name", ["mm", "mm_bt"])
def test_nothing_outside_of_the_arrays_is_touched(name: str, tmp_path: Path) -> None:
    (tmp_path / "tiled.c").write_text(text_of(name, **SMALL))
    (tmp_path / "main.c").write_text(
        f"""#include <stdlib.h>
void {name}(int M, int U, int N, float *A, float *B, float *C);
int main(void)
{{
  for (int n = 0; n < 15; n++) {{
    const int M = n, U = 2 * n % 7, N = n * 5 % 11;
    float *a = calloc(M * U, 4), *b = calloc(U * N, 4), *c = malloc(M * N * 4);
    if (!a || !b || !c) return 2;
    {name}(M, U, N, a, b, c);
    for (int k = 0; k < M * N; k++) if (c[k] != 0) return 1;
    free(a); free(b); free(c);
  }}
  return 0;
}}
"""
    )
    subprocess.run(["cc", *STRICT, "tiled.c"], cwd=tmp_path, check=True)
    subprocess.run(["cc", *CHECKED, "main.c", "tiled.c", "-o", "app"], cwd=tmp_path, check=True)
    done = subprocess.run(["./app"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_profile_of_a_cpu_makes_kernels_too() -> None:
    (routine,) = lx.load(CORPUS / "mm.c")
    assert "__kernel" in routine.tile(limits="cpu").kernel
