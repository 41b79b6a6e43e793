"""Arrays read from copies with longer rows: written C and kernels, for sizes whose rows are vectors
as they are, of one array, of both, and of none."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from c_project import (
    Compared,
    assert_all_same,
    assert_same,
    caller_of,
    project_of,
    require_opencl,
    run_app,
)
from harness import assert_runs_agree

from loopxform.codegen import emit
from loopxform.codegen.plan import Plan
from loopxform.floating_point import SEPARATE
from loopxform.frontend import parse_file
from loopxform.ir.printer import listing
from loopxform.offload.program import offload
from loopxform.recipes.tile import tile
from loopxform.runtime.kernel import CompiledKernel
from loopxform.runtime.selection import choose
from loopxform.schedule.params import Options
from loopxform.targets.profile import PROFILES
from loopxform.transforms import Derivation
from loopxform.verify.check_run import arguments
from loopxform.verify.compare import compare
from loopxform.verify.cref import CSource
from loopxform.verify.group.execute import execute
from loopxform.verify.interp import Program

PRODUCT = "float s = 0; for (int k = 0; k < {k}; k++) s += {a} * {b}; {c};"


def loops(m: str, n: str, k: str, a: str, b: str, c: str) -> str:
    inner = PRODUCT.format(k=k, a=a, b=b, c=c)
    return f"for (int i = 0; i < {m}; i++) for (int j = 0; j < {n}; j++) {{ {inner} }}"


WIDE = ("floats-in-doubles", "halves-and-doubles")
"""Tiles of doubles have no vectors of four."""
PLAIN = loops("M", "N", "U", "A[i][k]", "B[k][j]", "C[i][j] = s")
ROWS = "const float A[M][U], const float B[U][N], float C[M][N]"
TEXTS = {
    "ints": ("int M, int U, int N, " + ROWS, PLAIN),
    "longs": ("long M, long U, long N, " + ROWS, PLAIN),
    "unsigned": ("unsigned M, unsigned U, unsigned N, " + ROWS, PLAIN),
    "numbers": (
        "int M, int U, const float A[M][U], const float B[U][29], float C[M][29]",
        loops("M", "29", "U", "A[i][k]", "B[k][j]", "C[i][j] = s"),
    ),
    "part-of-rows": (
        "int M, int U, int N, int V, const float A[M][V], const float B[V][N], float C[M][N]",
        loops("M", "N", "U", "A[i][k]", "B[k][j]", "C[i][j] = s"),
    ),
    "pointers": (
        "int M, int U, int N, const float *A, const float *B, float *C",
        loops("M", "N", "U", "A[i*U+k]", "B[k*N+j]", "C[i*N+j] = s"),
    ),
    "parts-of-pointers": (
        "int M, int U, int N, int V, const float *A, const float *B, float *C",
        loops("M", "N", "U", "A[i*V+k]", "B[k*N+j]", "C[i*N+j] = s"),
    ),
    "behind-an-offset": (
        "int M, int U, int N, const float *A, const float *B, float *C",
        loops("M", "N", "U", "A[i*U+k]", "B[k*N+j]", "C[i*N+j] = s").replace("k = 0", "k = 9"),
    ),
    "from-an-offset": (
        "int M, int U, int N, " + ROWS,
        PLAIN.replace("int i = 0", "int i = 1").replace("int k = 0", "int k = 3"),
    ),
    "one-twice": (
        "int M, const float A[M][M], float C[M][M]",
        loops("M", "M", "M", "A[i][k]", "A[k][j]", "C[i][j] = s"),
    ),
    "one-of-two": (
        "int M, int U, int N, const float A[M][U], const double B[U][N], float C[M][N]",
        PLAIN.replace("B[k][j]", "(B[k][j] > 0.5)"),
    ),
    "narrowed": (
        "int M, int U, int N, const double A[M][U], const float B[U][N], float C[M][N]",
        PLAIN.replace("A[i]", "(float)A[i]"),
    ),
    "ints-in-floats": (
        "int M, int U, int N, const int A[M][U], const float B[U][N], float C[M][N]",
        PLAIN,
    ),
    "halves": ("int M, int U, int N, " + ROWS.replace("float", "_Float16"), PLAIN),
    "sums-of-halves": (
        "int M, int U, int N, " + ROWS.replace("float", "_Float16"),
        PLAIN.replace("float s", "_Float16 s"),
    ),
    "bytes-and-floats": (
        "int M, int U, int N, const unsigned char A[M][U], const float B[U][N], float C[M][N]",
        PLAIN,
    ),
    "floats-in-doubles": (
        "int M, int U, int N, " + ROWS,
        PLAIN.replace("float s", "double s").replace("A[i]", "(double)A[i]"),
    ),
    "halves-and-doubles": (
        "int M, int U, int N, const _Float16 A[M][U], const double B[U][N], float C[M][N]",
        PLAIN,
    ),
    "beside-a-row": (
        "int M, int U, int N, const float W[U], " + ROWS,
        PLAIN.replace("A[i][k] *", "A[i][k] * W[k] *"),
    ),
    "in-a-loop": (
        "int T, int M, int U, int N, const float A[M][U], const float B[U][N], float C[M][N]",
        f"for (int t = 0; t < T; t++) if (N / T > 3) {{ {PLAIN.replace('= s', '+= s')} }}",
    ),
    "by-turns": (
        "int M, int U, int N, const float B[U][N], float C[M][N], float D[M][U]",
        "for (int t = 0; t < 3; t++) {"
        + loops("M", "U", "N", "C[i][k]", "B[j][k]", "D[i][j] = s")
        + loops("M", "N", "U", "D[i][k]", "B[k][j]", "C[i][j] = s * 0.01f")
        + "}",
    ),
}
NESTS = [n for n in TEXTS if n not in ("in-a-loop", "by-turns")]
SIZES = ((17, 23, 29), (17, 24, 29), (18, 23, 28), (16, 24, 32), (1, 1, 1), (5, 3, 2))
HOSTS = ("unsigned", "numbers", "behind-an-offset", "halves", "in-a-loop", "by-turns")
"""What the host asks and copies differs; of the others the kernels do."""
TILES = {"Ty": 4, "Tx": 4, "Tk": 8, "Ry": 4, "Rx": 4}
OPTIONS = Options(pack=1, vector=4, stages=2)


def text(name: str) -> str:
    params, body = TEXTS[name]
    return f"void f_{name.replace('-', '_')}({params}) {{ {body} }}\n"


@cache
def derivation(name: str) -> Derivation:
    (fn,) = parse_file("f.c", text=text(name)).unit.functions
    limits = PROFILES["h100"]
    if name in NESTS:
        return tile(fn, TILES, None, limits, options=OPTIONS).derivation
    return offload(fn, TILES, limits, OPTIONS).derivation


@cache
def plan(name: str) -> Plan:
    return emit.kernel(derivation(name), fp=SEPARATE)


def sizes_of(name: str) -> list[dict[str, int]]:
    every = [{"M": m, "U": u, "N": n, "V": u + 5, "T": 2} for m, u, n in SIZES]
    return [{n: v for n, v in sizes.items() if f" {n}," in TEXTS[name][0]} for sizes in every]


@pytest.mark.parametrize("name", TEXTS)
def test_something_is_packed(name: str) -> None:
    assert any(b.like for b in plan(name).temporaries) == (name not in WIDE)


@pytest.mark.device
@pytest.mark.parametrize("name", TEXTS)
def test_bit_identical_to_the_c_program(name: str) -> None:
    assert_runs_agree(plan(name), CSource(text=text(name)), sizes_of(name), 3)


@pytest.mark.parametrize(
    "names", [HOSTS, pytest.param(sorted({*TEXTS} - {*HOSTS}), marks=pytest.mark.slow)]
)
def test_the_drop_in_computes_what_the_function_did(tmp_path: Path, names: Sequence[str]) -> None:
    programs = []
    for name in names:
        every = tuple(arguments(derivation(name).start, s, 1) for s in sizes_of(name))
        programs.append(Compared(derivation(name), text(name), every))
    assert_all_same(tmp_path, programs)


def test_a_loop_without_iterations_divides_nothing(tmp_path: Path) -> None:
    """What is asked in a loop of the host is asked there alone."""
    require_opencl()
    file = tmp_path / "user.c"
    file.write_text(text("in-a-loop"))
    start = derivation("in-a-loop").start
    given = arguments(start, {"T": 0, "M": 5, "U": 6, "N": 7}, 1)
    app = project_of(tmp_path, derivation("in-a-loop"), file).build(caller_of(start, given))
    assert_same(run_app(app, POCL_SIGFPE_HANDLER="0"))


ENDS = {
    "end-of-rows": ("A[M][U]", "B[N][U]", "A[i][k]", "B[j][k]"),
    "end-of-both": ("A[M][U]", "B[U][N]", "A[i][k]", "B[k][j]"),
    "part-of-rows": ("A[M][V]", "B[U][N]", "A[i][k]", "B[k][j]"),
    "part-of-both": ("A[M][V]", "B[N][V]", "A[i][k]", "B[j][k]"),
}


@pytest.mark.device
@pytest.mark.parametrize("case", ENDS)
@pytest.mark.parametrize(
    ("more", "kind"),
    [({}, "float"), ({}, "_Float16"), ({"Ty": 8, "Tx": 32}, "float")],
    ids=["small", "small-halves", "large"],
)
def test_nothing_is_added_to_minus_zeros(case: str, more: dict[str, int], kind: str) -> None:
    """What lies beyond the end of a row, or of a part of it, leaves every bit as it is: no sum of
    minus zeros becomes zero, no infinity beyond the end is seen."""
    a, b, x, y = ENDS[case]
    body = f"float s = -0.0f; for (int k = 0; k < U; k++) s += {x} * {y}; C[i][j] = s;"
    nest = f"for (int i = 0; i < M; i++) for (int j = 0; j < N; j++) {{ {body} }}"
    params = f"int M, int U, int N, int V, const {kind} {a}, const {kind} {b}, float C[M][N]"
    (fn,) = parse_file("f.c", text=f"void f({params}) {{ {nest} }}\n").unit.functions
    done = tile(fn, {**TILES, **more}, None, PROFILES["h100"], options=OPTIONS)
    compiled = CompiledKernel(emit.kernel(done.derivation, fp=SEPARATE), choose())
    for m, u, n in SIZES:
        for v in (u, u + 1, -(-u // 4) * 4):
            scalars = {"M": m, "U": u, "N": n, "V": v}
            shapes = {s[0]: tuple(scalars[d] for d in s[2:-1].split("][")) for s in (a, b)}
            of = np.float32 if kind == "float" else np.float16
            arrays = {name: np.full(shape, np.inf, of) for name, shape in shapes.items()}
            arrays["A"][:, :u] = -0.0
            along = [slice(0, u) if d in "UV" else slice(None) for d in b[2:-1].split("][")]
            arrays["B"][tuple(along)] = 1
            result = np.zeros((m, n), np.float32)
            compiled(**scalars, **arrays, C=result)
            assert (result == 0).all(), (case, scalars)
            assert np.signbit(result).all(), (case, scalars)


def test_ints_that_floats_round() -> None:
    """Padding beside them does not make floats of them."""
    (fn,) = parse_file("f.c", text=text("ints-in-floats")).unit.functions
    done = tile(fn, TILES, None, PROFILES["h100"], options=OPTIONS)
    compiled = CompiledKernel(emit.kernel(done.derivation, fp=SEPARATE), choose())
    a, b = np.full((9, 7), 2**31 - 1, np.int32), np.ones((7, 5), np.float32)
    result = np.zeros((9, 5), np.float32)
    compiled(M=9, U=7, N=5, A=a, B=b, C=result)
    assert (result == np.float32(7 * 2**31)).all()


LARGER = """
void f(int n, int m, const float a[restrict 2 * n + 2 * m + 12][2 * n + 2 * m + 12],
       const float b[restrict m + 9][n + 9], float y[restrict n + m + 20][n + m + 20],
       float z[restrict n + m + 20][n + m + 20])
{
  for (int q = 0; q < m; q++)
    for (int e = 0; e < n; e += 2)
      for (int l = 0; l < n; l += 2)
        z[e][l] = a[e + 1][l] - z[e + 1][l + 2];
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      float s = 0;
      for (int k = 0; k < m; k++)
        s += a[i][k] * b[k][j];
      y[i][j] = s;
    }
}
"""
"""Less is touched than `a` is declared to have, and steps of the first nest have made that hard to
tell."""


def test_no_more_is_copied_than_the_program_touches() -> None:
    (fn,) = parse_file("f.c", text=LARGER).unit.functions
    derivation = offload(fn, {}, PROFILES["h100"], Options(pack=1)).derivation
    assert "a_p[" in listing(derivation.function)
    plan = emit.kernel(derivation, fp=SEPARATE)
    for n, m in ((5, 2), (9, 9)):
        expected, args = (arguments(fn, {"n": n, "m": m}, 1) for _ in range(2))
        Program(fn).run(expected)
        execute(plan, args)
        assert not compare(expected, args)
