"""cuBLAS: what it is asked for. A stand-in that is compiled here computes with the host what the
documentation of cuBLAS says; the library itself needs a GPU."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from loopxform import compiler, load
from loopxform.bench.cublas import CuBLAS
from loopxform.bench.libraries import load as load_library
from loopxform.bench.product import Product, product_of
from loopxform.errors import DeviceError, InputError
from loopxform.verify.check_run import Reference
from loopxform.verify.compare import compare
from loopxform.verify.cref import CSource

CORPUS = Path(__file__).parents[3] / "corpus"
PLACE = "0000:18:00.0"
SIZES = {"M": 7, "U": 11, "N": 5}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Both libraries by their names."""
    where = tmp_path_factory.mktemp("cuda")
    source = Path(__file__).with_name("stand_in_cuda.c")
    out = str(where / "libcudart.so")
    subprocess.run([*compiler.command(), "-shared", "-fPIC", "-o", out, str(source)], check=True)
    (where / "libcublas.so").symlink_to(out)
    return where


@pytest.fixture(scope="module")
def library(folder: Path) -> ctypes.CDLL:
    return ctypes.CDLL(str(folder / "libcublas.so"))


def matrices(name: str | Path) -> tuple[Product, dict[str, Any], dict[str, Any]]:
    """The product, arguments, and what the C makes of them."""
    file = CORPUS / f"{name}.c" if isinstance(name, str) else name
    fn = load(file).routine().function
    reference = Reference(CSource(str(file)), fn)
    known = {p.name for p in fn.objects if not p.array}
    given = reference.arguments({n: v for n, v in SIZES.items() if n in known}, 1)
    return product_of(fn), given, reference.expected(given)


@pytest.mark.parametrize(
    "name",
    ["mm", "mm_accumulate", "mm_at", "mm_bt", "mm_c89", "mm_flat", "mm_ikj", "mm_macro"],
)
def test_the_product_is_that_of_the_c(name: str, library: ctypes.CDLL) -> None:
    require_the_same(*matrices(name), library)


GLOBALS = """double A[9][13], C[9][9];
int M, U;

void square(void)
{
  for (int i = 0; i < M; i++)
    for (int k = 0; k < U; k++)
      for (int j = 0; j < M; j++)
        C[i][j] += A[i][k] * A[j][k];
}
"""


def test_variables_of_the_file_and_one_matrix_twice(tmp_path: Path, library: ctypes.CDLL) -> None:
    (tmp_path / "f.c").write_text(GLOBALS)
    product, given, expected = matrices(tmp_path / "f.c")
    assert product.numbers(given) == (7, 7, 11, 13, 13, 9)
    require_the_same(product, given, expected, library)


def require_the_same(
    product: Product, given: dict[str, Any], expected: dict[str, Any], library: ctypes.CDLL
) -> None:
    contestant = CuBLAS(product, PLACE, library, library)
    before = given["C"].copy()
    allowed = contestant.allowed
    found = contestant.result(given)
    relative, absolute = allowed.relative(expected["C"]), allowed.absolute(expected["C"])
    same = compare({"C": expected["C"]}, {"C": found["C"]}, rtol=relative, atol=absolute)
    assert same == ()
    assert (given["C"] == before).all(), "the arguments stay what they are"


def test_each_call_is_timed_between_two_events(library: ctypes.CDLL) -> None:
    product, given, _ = matrices("mm")
    before = library.stand_in_after_a_wait()
    assert CuBLAS(product, PLACE, library, library).times(given, 4) == [1_500_000] * 4
    gathered = library.stand_in_after_a_wait() - before
    assert gathered == 4, "all of them are enqueued before the first begins, but for the warm-up"
    assert library.stand_in_live() == 0, "memory and events are given back"


def test_the_libraries_are_found_where_the_loader_looks(folder: Path) -> None:
    code = (
        "import os, sys; from loopxform import load; from loopxform.bench.cublas import cublas\n"
        "from loopxform.bench.product import product_of\n"
        "made = cublas(product_of(load(sys.argv[1])['mm'].function), sys.argv[2])\n"
        "print(made.label, os.environ['NVIDIA_TF32_OVERRIDE'])"
    )
    words = [sys.executable, "-c", code, str(CORPUS / "mm.c"), PLACE]
    environment = {**os.environ, "LD_LIBRARY_PATH": str(folder)}
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == "cublas 0\n"


def test_a_gpu_that_cuda_does_not_see(library: ctypes.CDLL) -> None:
    product, _, _ = matrices("mm")
    with pytest.raises(DeviceError, match="cudaDeviceGetByPCIBusId fails with status 101"):
        CuBLAS(product, "0000:19:00.0", library, library)


def test_the_only_gpu_needs_no_place(library: ctypes.CDLL, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STAND_IN_ALONE", "yes")
    product, _, _ = matrices("mm")
    CuBLAS(product, "0000:19:00.0", library, library)


def test_a_library_that_is_not_there() -> None:
    with pytest.raises(InputError) as e:
        load_library("loopxform_no_such", ("1",), "install it, or leave out --against")
    assert e.value.render() == (
        "loopxform: error: the library libloopxform_no_such is not found [LX069]\n"
        "   = help: install it, or leave out --against"
    )
