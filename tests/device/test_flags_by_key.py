"""Elements that data name, all set to one value: stores in any order, by kernels and as tiled C."""

from __future__ import annotations

import copy
from dataclasses import dataclass

import pytest
from harness import assert_clean_and_right, assert_runs_agree

import loopxform as lx
from loopxform.codegen import emit
from loopxform.floating_point import SEPARATE
from loopxform.targets.profile import PROFILES
from loopxform.verify.check_run import arguments
from loopxform.verify.compare import compare
from loopxform.verify.cref import CSource
from loopxform.verify.group.execute import execute
from loopxform.verify.interp import Program


@dataclass(frozen=True)
class Case:
    """What follows `int n` among the parameters of a function, and the body of its loop."""

    params: str
    body: str


CASES = {
    "ints": Case("const int a[n], int h[37]", "h[a[i] % 37] = 7;"),
    "bytes": Case("const int a[n], unsigned char h[restrict 256]", "h[a[i] & 255] = 1;"),
    "truths": Case(
        "int v, const int a[n], const int b[n], _Bool h[8][9]",
        "if (b[i] > 5) h[a[i] & 7][b[i] % 9] = v;",
    ),
    "wide": Case("long v, const int a[n], long h[16]", "h[a[i] & 15] = v - 1;"),
    "real": Case("double v, const int a[n], double h[16]", "h[a[i] & 15] = -v;"),
    "shorts-in-rows": Case(
        "const int a[n], short h[16]", "for (int k = 0; k < i; k++) h[(a[i] + k) & 15] = -2;"
    ),
    "one-place": Case("const int a[n], int h[1]", "if (a[i] % 7 == 3) h[0] = 1;"),
    "beside-a-histogram": Case(
        "const int a[n], int h[8], char g[8]", "h[a[i] & 7]++; g[a[i] & 7] = 1;"
    ),
}


def text(case: Case) -> str:
    params = case.params.replace("[n]", "[restrict n]")
    return f"void f(int n, {params}) {{ for (int i = 0; i < n; i++) {{ {case.body} }} }}\n"


def sizes(case: Case, n: int) -> dict[str, int]:
    return {"n": n, "v": 3} if case.params.split(",")[0].endswith(" v") else {"n": n}


@pytest.mark.device
@pytest.mark.parametrize("name", CASES)
def test_as_the_c_program(name: str) -> None:
    case = CASES[name]
    done = lx.loads(text(case))["f"].tile(contract=False)
    plan = emit.kernel(done.derivation, fp=SEPARATE)
    assert plan.source.count("*(volatile __global") == 1
    every = [sizes(case, n) for n in (0, 1, 255, 256, 257, 1000)]
    assert_runs_agree(plan, CSource(text=text(case)), every, 3)


@pytest.mark.parametrize("name", CASES)
def test_in_the_executor_of_groups(name: str) -> None:
    plan = emit.kernel(lx.loads(text(CASES[name]))["f"].tile(contract=False, Tx=4).derivation)
    args = arguments(plan.start, sizes(CASES[name], 19), 5)
    expected = copy.deepcopy(args)
    Program(plan.start).run(expected)
    execute(plan, args, seed=3)
    assert not compare(expected, args)


@pytest.mark.oclgrind
@pytest.mark.parametrize("name", ["bytes", "truths", "shorts-in-rows", "beside-a-histogram"])
def test_in_the_simulator(name: str) -> None:
    """Nothing out of bounds, and no races but of stores of one value."""
    done = lx.loads(text(CASES[name]))["f"].tile(contract=False, Tx=4, Ty=2)
    plan = emit.kernel(done.derivation)
    given = [arguments(plan.start, sizes(CASES[name], n), 5) for n in (0, 1, 7, 8, 9, 37)]
    assert_clean_and_right(plan, given)


def test_threads_write_atomically() -> None:
    tiled = lx.loads(text(CASES["bytes"]))["f"].tile(limits=PROFILES["cpu"])
    (written,) = tiled.openmp.files.values()
    assert "#pragma omp atomic write" in written
