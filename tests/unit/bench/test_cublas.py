"""cuBLAS: what it is asked for. A stand-in that is compiled here computes with the host what the
documentation of cuBLAS says; the library itself needs a GPU."""

from __future__ import annotations

import ctypes
import subprocess
from pathlib import Path
from typing import Any

import pytest

from loopxform import load
from loopxform.bench.cublas import CuBLAS
from loopxform.bench.libraries import load as load_library
from loopxform.bench.product import product_of
from loopxform.errors import DeviceError, InputError
from loopxform.verify.check_run import Reference
from loopxform.verify.compare import compare
from loopxform.verify.cref import CSource, compiler

CORPUS = Path(__file__).parents[3] / "corpus"
PLACE = "0000:18:00.0"
SIZES = {"M": 7, "U": 11, "N": 5}


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    file = tmp_path_factory.mktemp("cuda") / "libstandin.so"
    source = Path(__file__).with_name("stand_in_cuda.c")
    subprocess.run([*compiler(), "-shared", "-fPIC", "-o", str(file), str(source)], check=True)
    return ctypes.CDLL(str(file))


def matrices(name: str) -> tuple[Any, dict[str, Any], dict[str, Any]]:
    """The product, arguments, and what the C makes of them."""
    file = CORPUS / f"{name}.c"
    fn = load(file).routine().function
    reference = Reference(CSource(str(file)), fn)
    known = {p.name for p in fn.params if not p.array}
    given = reference.arguments({n: v for n, v in SIZES.items() if n in known}, 1)
    return product_of(fn), given, reference.expected(given)


@pytest.mark.parametrize(
    "name",
    ["mm", "mm_accumulate", "mm_at", "mm_bt", "mm_c89", "mm_flat", "mm_ikj", "mm_macro"],
)
def test_the_product_is_that_of_the_c(name: str, library: ctypes.CDLL) -> None:
    product, given, expected = matrices(name)
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
    assert CuBLAS(product, PLACE, library, library).times(given, 4) == [1_500_000] * 4
    assert library.stand_in_live() == 0, "memory and events are given back"


def test_a_gpu_that_cuda_does_not_see(library: ctypes.CDLL) -> None:
    product, _, _ = matrices("mm")
    with pytest.raises(DeviceError, match="cudaDeviceGetByPCIBusId fails with status 101"):
        CuBLAS(product, "0000:19:00.0", library, library)


def test_a_library_that_is_not_there() -> None:
    with pytest.raises(InputError) as e:
        load_library("loopxform_no_such", ("1",), "install it, or leave out --against")
    assert e.value.render() == (
        "loopxform: error: the library libloopxform_no_such is not found [LX069]\n"
        "   = help: install it, or leave out --against"
    )
