"""A kernel that is called again and again: one call directly after the other, each with a time."""

from __future__ import annotations

import numpy as np
import pytest
from harness import given, program, run_c, sizes_of
from tilings import Options, Tiles, tile

import loopxform as lx
from loopxform.codegen import emit
from loopxform.floating_point import SEPARATE
from loopxform.runtime.kernel import CompiledKernel
from loopxform.runtime.resident import Resident
from loopxform.runtime.selection import choose

SEED = 5
CLIMB = """
void f(int n, int seen[n])
{
  for (int i = 0; i < n; i++)
    seen[i] = 0;
  while (seen[0] < 3) {
    for (int i = 0; i < n; i++)
      seen[i] = seen[i] + 1;
  }
}
"""


def compiled(name: str) -> CompiledKernel:
    done = tile(program(name), Tiles(4, 4, 8, 4, 4), "register", options=Options(pack=1, vector=4))
    return CompiledKernel(emit.kernel(done.derivation, fp=SEPARATE), choose())


@pytest.mark.device
@pytest.mark.parametrize("size", [(17, 23, 29), (16, 24, 32)], ids=str)
def test_every_call_computes_and_is_timed(size: tuple[int, int, int]) -> None:
    kernel, args = compiled("mm"), given("mm", sizes_of("mm", *size), SEED)
    on_device = Resident(kernel.queue, args, ("A", "B", "C"))
    taken = kernel.again(4, **on_device.arguments)
    assert len(taken) == 4
    assert min(taken) > 0
    assert np.array_equal(on_device.fetch("C"), run_c("mm", args)["C"])


@pytest.mark.device
def test_calls_that_change_what_they_read_change_it_again() -> None:
    """C = alpha * A * B + beta * C, three times."""
    sizes = {**sizes_of("gemm", 9, 6, 8), "alpha": 2, "beta": 3}
    kernel, args = compiled("gemm"), given("gemm", sizes, SEED)
    on_device = Resident(kernel.queue, args, ("A", "B", "C"))
    kernel.again(3, **on_device.arguments)
    for _ in range(3):
        args = {**args, "C": run_c("gemm", args)["C"]}
    assert np.array_equal(on_device.fetch("C"), args["C"])


@pytest.mark.device
def test_nothing_to_do_takes_no_time() -> None:
    kernel = compiled("mm")
    a, b = np.zeros((0, 4), np.float32), np.zeros((4, 4), np.float32)
    assert kernel.again(2, M=0, U=4, N=4, A=a, B=b, C=a.copy()) == [0, 0]


@pytest.mark.device
def test_what_depends_on_data_is_called_one_by_one() -> None:
    kernel = lx.loads(CLIMB)["f"].offload(contract=False).compile()
    args = {"n": 10, "seen": np.ones(10, np.int32)}
    assert len(kernel.again(2, **args)) == 2
    assert (args["seen"] == 3).all()
