"""Transpositions: permuted dimensions in every style, on a device, in the simulator, and in the
executor of groups."""

from __future__ import annotations

import copy
import random
from dataclasses import dataclass, replace
from itertools import permutations

import pytest
from harness import assert_clean_and_right, assert_runs_agree

import loopxform as lx
from loopxform.codegen import emit
from loopxform.codegen.plan import Plan
from loopxform.floating_point import SEPARATE
from loopxform.targets.profile import PROFILES
from loopxform.verify.check_run import arguments
from loopxform.verify.compare import compare
from loopxform.verify.cref import CSource
from loopxform.verify.group.execute import execute
from loopxform.verify.interp import Program

PAIRS = tuple({"n": n, "m": m} for n, m in ((0, 7), (7, 0), (1, 1), (33, 31), (32, 64), (100, 3)))
CUBES = tuple(
    {"n": n, "m": m, "l": d} for n, m, d in ((0, 2, 3), (1, 1, 1), (5, 33, 40), (35, 4, 2))
)
IN_TWO = "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++)"
IN_THREE = f"{IN_TWO} for (int k = 0; k < l; k++)"


@dataclass(frozen=True)
class Case:
    """The parameters of a function and its body, and sizes."""

    params: str
    body: str
    sizes: tuple[dict[str, int], ...] = PAIRS
    recipe: str = "transposition"

    @property
    def text(self) -> str:
        return f"void f({self.params}) {{ {self.body} }}\n"


MATRICES = "int n, int m, const float A[n][m], float B[m][n]"
FLAT = "int n, int m, const int *restrict a, int *restrict b"
CASES = {
    "matrix": Case(MATRICES, f"{IN_TWO} B[j][i] = A[i][j];"),
    "flat": Case(FLAT, f"{IN_TWO} b[j*n + i] = a[i*m + j];"),
    "pointers": Case(FLAT, f"{IN_TWO} *(b + j*n + i) = *(a + i*m + j);"),
    "counted": Case(FLAT, f"{IN_TWO} b[j*n + i] = *a++;"),
    "other-order-of-loops": Case(
        FLAT, "int i, j; for (j = 0; j < m; j++) for (i = 0; i < n; i++) b[j*n + i] = a[i*m + j];"
    ),
    "rotation": Case(FLAT, f"{IN_TWO} b[j*n + (n - 1 - i)] = a[i*m + j];"),
    "mirrored": Case(MATRICES, f"{IN_TWO} B[m - 1 - j][i] = A[i][j];"),
    "blocks": Case(
        FLAT,
        "for (int p = 0; p < n; p += 16) for (int q = 0; q < m; q += 16) "
        "for (int i = p; i < (p + 16 < n ? p + 16 : n); i++) "
        "for (int j = q; j < (q + 16 < m ? q + 16 : m); j++) b[j*n + i] = a[i*m + j];",
    ),
    "function": Case(
        f"{MATRICES}, float s, const float D[m][n]",
        f"{IN_TWO} {{ float t = A[i][j] * s; if (t < 0) t = D[j][i]; B[j][i] = t; }}",
    ),
    "masked": Case(
        f"{MATRICES}, const int k[n][m]", f"{IN_TWO} if (k[i][j] > 3) B[j][i] = A[i][j];"
    ),
    "symmetric-part": Case(
        "int n, int m, const double A[n][n], double B[n][n]",
        f"{IN_TWO.replace('< m', '< n')} B[i][j] = 0.5 * (A[i][j] + A[j][i]);",
    ),
    "triangle": Case(
        "int n, int m, const float A[n][n], float B[n][n]",
        "for (int i = 0; i < n; i++) for (int j = 0; j <= i; j++) B[j][i] = A[i][j];",
    ),
    "neighbours": Case(
        MATRICES,
        "for (int i = 1; i < n - 1; i++) for (int j = 0; j < m - 1; j++) "
        "B[j][i] = A[i - 1][j] + A[i + 1][j + 1];",
    ),
    "inside": Case(
        "int n, int m, int o, const short A[n + o][m + 2], short B[m][n]",
        f"{IN_TWO} B[j][i] = A[i + o][j + 2];",
        tuple({**s, "o": 3} for s in PAIRS),
    ),
    "bytes": Case(
        "int n, int m, const unsigned char A[n][m], unsigned char B[m][n]",
        f"{IN_TWO} B[j][i] = 255 - A[i][j];",
    ),
    "few-columns": Case(
        "int n, int m, const float A[n][12], float B[12][n]",
        "for (int i = 0; i < n; i++) for (int j = 0; j < 12; j++) B[j][i] = A[i][j];",
    ),
    "batch-of-images": Case(
        "int n, int m, int l, const float *restrict x, float *restrict y",
        f"for (int q = 0; q < 2; q++) {IN_THREE} "
        "y[((q*l + k)*n + i)*m + j] = x[((q*n + i)*m + j)*l + k];",
        CUBES,
    ),
    "same-last-dimension": Case(
        "int n, int m, int l, const float A[n][m][l], float B[m][n][l]",
        f"{IN_THREE} B[j][i][k] = A[i][j][k];",
        CUBES,
        "elementwise",
    ),
    "copy": Case(
        "int n, int m, const float A[n][m], float B[n][m]",
        f"{IN_TWO} B[i][j] = A[i][j];",
        recipe="elementwise",
    ),
    "gather": Case(
        "int n, int m, const float A[n][m], const int k[n], float B[m][n]",
        f"{IN_TWO} B[j][i] = A[k[i] & 1][j];",
        tuple(s for s in PAIRS if s["n"] > 1),
        recipe="naive",
    ),
}


def permuted(order: tuple[int, ...]) -> Case:
    """The array whose dimension d is dimension order[d] of the other one."""
    loops, sizes = "ijkh"[: len(order)], "nmlp"[: len(order)]
    head = " ".join(f"for (int {v} = 0; {v} < {n}; {v}++)" for v, n in zip(loops, sizes))
    a, shape = ("".join(f"[{x}]" for x in names) for names in (loops, sizes))
    b, turned = ("".join(f"[{names[d]}]" for d in order) for names in (loops, sizes))
    params = ", ".join(f"int {n}" for n in sizes)
    some = ((1, 1, 1, 1), (0, 3, 2, 2), (3, 35, 2, 33), (34, 2, 33, 3))
    return Case(
        f"{params}, const float A{shape}, float B{turned}",
        f"{head} B{b} = A{a};",
        tuple(dict(zip(sizes, s)) for s in some),
        "elementwise" if order[-1] == len(order) - 1 else "transposition",
    )


def plan(case: Case, **sizes: int) -> Plan:
    done = lx.loads(case.text)["f"].tile(limits=PROFILES["h100"], contract=False, **sizes)
    assert done.tiled.recipe == case.recipe
    return emit.kernel(done.derivation, fp=SEPARATE)


@pytest.mark.device
@pytest.mark.parametrize("name", CASES)
def test_as_the_c_program(name: str) -> None:
    case = CASES[name]
    assert_runs_agree(plan(case), CSource(text=case.text), case.sizes, 3)


@pytest.mark.device
@pytest.mark.parametrize("rank", [2, 3])
def test_every_permutation(rank: int) -> None:
    for order in permutations(range(rank)):
        case = permuted(order)
        assert_runs_agree(plan(case), CSource(text=case.text), case.sizes, 3)


@pytest.mark.device
@pytest.mark.slow
def test_permutations_of_four_dimensions() -> None:
    for order in permutations(range(4)):
        case = permuted(order)
        assert_runs_agree(plan(case), CSource(text=case.text), case.sizes, 3)


SIMULATED = ("matrix", "rotation", "symmetric-part", "neighbours", "inside", "masked")


@pytest.mark.oclgrind
@pytest.mark.parametrize("name", SIMULATED)
def test_without_races(name: str) -> None:
    """In the simulator: no race, nothing out of bounds, nothing that was never set."""
    case = CASES[name]
    p = plan(case, Tx=4, Ty=2, Ry=2)
    given = [arguments(p.start, {k: min(v, 9) for k, v in s.items()}, 5) for s in case.sizes]
    assert_clean_and_right(p, given)


@pytest.mark.parametrize("name", SIMULATED)
def test_in_the_executor_of_groups(name: str) -> None:
    case, rng = CASES[name], random.Random(name)
    for _ in range(4):
        p = plan(case, Tx=rng.randint(1, 5), Ty=rng.randint(1, 4), Ry=rng.randint(1, 4))
        args = arguments(p.start, {n: rng.randint(1, 13) for n in case.sizes[0]}, 5)
        expected = copy.deepcopy(args)
        Program(p.start).run(expected)
        execute(p, args, seed=3)
        assert not compare(expected, args)


def test_both_sides_are_coalesced() -> None:
    """A warp of the tile asks for no more segments than a copy does, and finds its elements in
    different banks."""
    done = lx.loads(CASES["matrix"].text)["f"].tile(limits=PROFILES["h100"])
    (kernel,) = {k.text for k in emit.kernel(done.derivation).kernels}
    assert "__local float A_loc[Tx][Ty*Ry + 1]" in kernel


@pytest.mark.parametrize("profile", ["cpu", "pocl"])
def test_not_where_items_run_alone(profile: str) -> None:
    """Where no warp reads segments together, nothing has to be turned in local memory."""
    done = lx.loads(CASES["matrix"].text)["f"].tile(limits=PROFILES[profile])
    assert done.tiled.recipe == "cache-block"


def test_not_without_local_memory() -> None:
    limits = replace(PROFILES["generic"], local_bytes=0)
    done = lx.loads(CASES["matrix"].text)["f"].tile(limits=limits)
    assert done.tiled.recipe == "naive"
