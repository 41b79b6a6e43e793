"""Halves: computed with in float and rounded where C assigns, to the last bit of the user's C."""

from __future__ import annotations

import re
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from c_project import (
    PEDANTIC,
    STRICT,
    assert_same,
    caller_of,
    cc,
    project_of,
    require_opencl,
    run_app,
)
from corpus_nests import nest
from deriving import derived
from harness import assert_agrees, simulate_launches

import loopxform as lx
from loopxform.codegen import emit
from loopxform.errors import ArgumentError, LoopxformError
from loopxform.floating_point import SEPARATE
from loopxform.ir.nodes import Decl
from loopxform.ir.types import HALF
from loopxform.ir.visit import walk
from loopxform.runtime.kernel import CompiledKernel
from loopxform.runtime.selection import choose
from loopxform.schedule.params import Tiles
from loopxform.verify.check_run import Comparison, arguments, run
from loopxform.verify.compare import require_equal
from loopxform.verify.cref import CSource, Library, run_reference
from loopxform.verify.interp import run as interpret

EVERY_CONVERSION = """
void f(int n, _Float16 s, double d, _Float16 a[n], const _Float16 b[n], float x[n], double y[n],
       int k[n], unsigned char u[n], _Bool q[n])
{
  for (int i = 0; i < n; i++) {
    _Float16 t = a[i] * b[i] + 1;
    _Float16 third = t / 3, same = third;
    a[i] += third * s - (_Float16)(t * 0.1f) + same;
    x[i] = t + x[i] * b[i];
    x[i] *= (float)a[i];
    y[i] = (_Float16)(y[i] * 1e-3 + 0.1) - d * (_Float16)0.1;
    k[i] = (int)(a[i] * 100) + (a[i] > b[i]) + !t;
    u[i] = 3 * b[i];
    q[i] = third - same;
    if (b[i]) a[i] -= i;
    a[i] = k[i] % 3 ? a[i] : (k[i] % 2 ? b[i] : -t);
    a[i] = a[i] * 2 > 5 ? (_Float16)d : a[i];
  }
}"""

FROM_DOUBLE = """
void f(int n, double x[n], _Float16 a[n], _Float16 b[n], long k[n], unsigned long w[n])
{
  for (int i = 0; i < n; i++) {
    a[i] = x[i] * x[i] * 1e-3;
    b[i] = a[i] + x[i] * 70000;
    a[i] += k[i] * w[i];
  }
}"""

PRODUCT = """
void f(int m, int l, int n, const _Float16 a[m][l], const _Float16 b[l][n], _Float16 c[m][n])
{
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++) {
      _Float16 acc = 0;
      for (int k = 0; k < l; k++)
        acc += a[i][k] * b[k][j];
      c[i][j] = acc + c[i][j];
    }
}"""

STENCIL = """
void f(int n, int m, const _Float16 a[n][m], _Float16 b[n][m])
{
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < m - 1; j++)
      b[i][j] = (a[i][j] + a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1]) / 5;
}"""

PAIRS = """
void f(int n, const _Float16 *restrict x, const _Float16 *restrict w, float *restrict v)
{
  for (int i = 0; i < n; i++) {
    float s = 0;
    for (int j = 0; j < n; j++) {
      _Float16 d = x[i] - x[j];
      s += w[j] * d * d;
    }
    v[i] = s;
  }
}"""

EXTREMES = """
typedef _Float16 half;
static const half weight[2][2] = { { 0.1f, 1 / 3.0 }, { -2, 1e6 } };
static const half scale = (half)0.3;
struct pixel { half v; unsigned char on; half w[2]; };
static half norm(half x, int n)
{
  half r = x;
  while (n-- > 0) r = r * x;
  return r * x;
}
static half twice(half x) { return x * 2.1f; }
static half root(half x)
{
  half r = x, last = 0;
  while (r != last) { last = r; r = (r + x / r) / 2; if (r > last) break; }
  return r + 0.1f;
}
void f(int n, int m, const half a[n][m], half least[n], half kernel[n], struct pixel p[n])
{
  for (int i = 0; i < n; i++) {
    half lo = a[i][0], hi = 0;
    for (int j = 0; j < m; j++) {
      lo = a[i][j] < lo ? a[i][j] : lo;
      if (a[i][j] > hi) hi = a[i][j];
    }
    least[i] = lo * weight[i % 2][1] + norm(hi, 3) + weight[1][i % 2];
    kernel[i] = twice(lo) * scale + root(hi * 2);
    if (p[i].on) { p[i].v += lo; p[i].w[i % 2] = p[i].w[1] * p[i].v; }
  }
}"""


CASES: dict[str, tuple[str, dict[str, Any], Tiles | None]] = {
    "conversions": (EVERY_CONVERSION, {"n": 77, "s": 0.1, "d": 0.3}, None),
    "doubles": (FROM_DOUBLE, {"n": 100}, None),
    "product": (PRODUCT, {"m": 37, "l": 19, "n": 30}, Tiles(Ty=4, Tx=4, Tk=4, Ry=2, Rx=2)),
    "stencil": (STENCIL, {"n": 37, "m": 29}, None),
    "pairs": (PAIRS, {"n": 61}, None),
    "extremes": (EXTREMES, {"n": 23, "m": 17}, None),
}


@pytest.mark.device
@pytest.mark.parametrize(
    "case", [pytest.param(c, marks=pytest.mark.slow if c == "extremes" else ()) for c in CASES]
)
def test_kernels(case: str) -> None:
    assert_agrees(*CASES[case])


@pytest.mark.oclgrind
@pytest.mark.parametrize("case", ["conversions", "product", "extremes", "ahead"])
def test_under_oclgrind(case: str) -> None:
    text, sizes, tiles = CASES["product" if case == "ahead" else case]
    given: dict[str, Any] = {} if tiles is None else asdict(tiles)
    if case == "ahead":
        given = {"limits": "h100", "pack": 1, "Ty": 2, "Tx": 4, "Tk": 4, "Ry": 4, "Rx": 4}
    plan = emit.kernel(lx.loads(text)["f"].tile(contract=False, **given).derivation, fp=SEPARATE)
    small = {n: min(size, 9) for n, size in sizes.items()}
    args = arguments(plan.written, small, 1)
    library = Library(CSource(text=text), [plan.written])
    library.read_constants("f", args)
    report, after = simulate_launches(plan, args)
    assert report.clean, report
    library.run("f", args)
    require_equal({n: args[n] for n in after}, after)


EVERY_HALF = """
void f(int n, const _Float16 a[n], float x[n], const double y[n], const float z[n],
       _Float16 b[n], _Float16 c[n], _Float16 d[n])
{
  for (int i = 0; i < n; i++) {
    x[i] = a[i];
    b[i] = x[i];
    c[i] = y[i];
    d[i] = z[i];
  }
}"""


@pytest.mark.device
def test_every_half_and_every_tie() -> None:
    """All halves to float and back; numbers at, and next to, the middle of two halves."""
    a = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    a = a[np.isfinite(a)]
    step = np.spacing(np.minimum(np.abs(a), np.float16(65472))).astype(np.float64)
    middle = a + step / 2
    y = np.concatenate([middle, *(np.nextafter(middle, to) for to in (-np.inf, np.inf))])
    z = np.concatenate(
        [middle, *(np.nextafter(middle.astype(np.float32), np.float32(s)) for s in (-9e9, 9e9))]
    ).astype(np.float32)
    a = np.concatenate([a, a, np.full_like(a, np.nan)])
    x = np.empty(a.size, np.float32)
    b, c, d = (np.empty_like(a) for _ in range(3))
    lx.loads(EVERY_HALF)["f"].tile().compile()(a.size, a, x, y, z, b, c, d)
    np.testing.assert_array_equal(x, a.astype(np.float32))
    np.testing.assert_array_equal(b.view(np.int16) << 1 == 0, a == 0)
    np.testing.assert_array_equal(b, a)
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(c, y.astype(np.float16))
        np.testing.assert_array_equal(d, z.astype(np.float16))


@pytest.mark.device
def test_scalars_of_python_are_rounded() -> None:
    text = "void f(int n, _Float16 s, float x[n]) { for (int i = 0; i < n; i++) x[i] = s; }"
    x = np.empty(3, np.float32)
    lx.loads(text)["f"].tile().compile()(3, 0.1, x)
    assert (x == np.float32(np.float16(0.1))).all()
    with pytest.raises(ArgumentError, match="s must be a number that float16 can hold"):
        lx.loads(text)["f"].tile().compile()(3, 1e5, x)


def test_tiles_and_registers_hold_floats() -> None:
    """Each half is converted once, as it is copied."""
    tiled = lx.loads(PRODUCT)["f"].tile(Ty=4, Tx=4, Tk=4, Ry=2, Rx=2)
    source = emit.kernel(tiled.derivation).source
    assert "__local float a_loc[Tk][" in source
    assert "a_loc[c1][c0] = float_of_half(a[" in source
    assert "float acc[Ry][Rx];" in source
    assert "a_reg[c0] = a_loc[" in source
    assert "acc[i][j] = round_to_half(acc[i][j] + a_reg[i] * b_reg[j]);" in source
    assert "cl_khr_fp16" not in source


def test_what_is_fetched_ahead_is_not_looked_at() -> None:
    """Registers between memory and tile hold the bits, so that nothing waits for them."""
    tiled = lx.loads(PRODUCT)["f"].tile(limits="h100", pack=1)
    source = emit.kernel(tiled.derivation).source
    assert "ushort4 a_loc_next[" in source
    assert "a_loc_next[r] = LX_VECTOR(ushort4, 4, &a" in source
    assert "[c1][c0] = float_of_half(a_loc_next[r].s0);" in source


TURNED = """
void f(int n, int m, const _Float16 a[n][m], _Float16 b[m][n])
{
  for (int j = 0; j < m; j++)
    for (int i = 0; i < n; i++)
      b[j][i] = a[i][j];
}"""
STAGED = (
    *("parallelise i", "parallelise j", "stripmine i 4 ii", "stripmine j 4 jj"),
    *("interchange j ii", "copy-to-local a ii", "map jj group.y", "map ii group.x"),
    *("map j thread.y", "map i thread.x"),
)


@pytest.mark.device
def test_halves_that_are_moved_keep_their_bits() -> None:
    """Signalling NaNs, too."""
    made = derived(TURNED, *STAGED)
    assert {d.type for _, d in walk(made.function.body) if isinstance(d, Decl)} == {HALF}
    plan = emit.kernel(made, fp=SEPARATE)
    a = np.arange(1 << 16, dtype=np.uint16).reshape(1 << 8, 1 << 8)
    b = np.zeros_like(a)
    CompiledKernel(plan, choose())(n=256, m=256, a=a.view(np.float16), b=b.view(np.float16))
    np.testing.assert_array_equal(b, a.T)


EXTREMUM = """
void f(int n, int m, const _Float16 x[n][m], _Float16 y[n])
{
  for (int i = 0; i < n; i++) {
    _Float16 s = i;
    for (int j = 0; j < m; j++)
      s = x[i][j] < s ? x[i][j] : s;
    y[i] = s;
  }
}"""


def test_sums_are_not_associative_and_extrema_are() -> None:
    """Each addition rounds, to 11 bits at that. Parts have the type of the whole."""
    routine = lx.loads(EXTREMUM.replace("s = x[i][j] < s ? x[i][j] : s", "s += x[i][j]"))["f"]
    with pytest.raises(LoopxformError, match="floating-point addition is not associative"):
        routine.apply("rfactor j 4")
    made = lx.loads(EXTREMUM)["f"].apply("rfactor j 4")
    start, function = made.start, made.function
    assert {d.type for _, d in walk(function.body) if isinstance(d, Decl) and d.shape} == {HALF}
    expected, found = (arguments(start, {"n": 5, "m": 11}, 2) for _ in range(2))
    run_reference(CSource(text=EXTREMUM), start, expected)
    interpret(function, found)
    require_equal(expected, found)


def test_the_drop_in(tmp_path: Path) -> None:
    """Silent although verbose: the device did it all. ISO C has the type
    only since 2023, of which the written files say nothing."""
    require_opencl()
    (tmp_path / "f.c").write_text(EVERY_CONVERSION)
    derivation = lx.load(tmp_path / "f.c")["f"].tile(contract=False).derivation
    made = project_of(tmp_path, derivation, tmp_path / "f.c")
    args = arguments(derivation.start, {"n": 33, "s": 0.1, "d": 0.3}, 1)
    app = made.build(PEDANTIC + caller_of(derivation.start, args))
    assert_same(run_app(app, LOOPXFORM_VERBOSE="1"))


@pytest.mark.parametrize("case", ["conversions", "product", "stencil", "extremes"])
def test_tiled_as_c(case: str) -> None:
    """`--target openmp` keeps the type, and so the compiler's own rounding."""
    text, sizes, _ = CASES[case]
    tiled = lx.loads(text)["f"].tile(contract=False)
    made = tiled.openmp.files
    (code,) = (t for name, t in made.items() if name.endswith(".c"))
    start = tiled.derivation.start
    expected, found = (arguments(start, sizes, 2) for _ in range(2))
    run_reference(CSource(text=text), start, expected)
    run_reference(CSource(text=code), start, found)
    require_equal(expected, found)


@pytest.mark.parametrize("a", ["_Float16", "unsigned char"])
def test_tiles_of_c_are_not_converted(a: str) -> None:
    """With `-fexcess-precision=16` each operation rounds, in the tiled C as in the user's."""
    text = PRODUCT.replace("const _Float16 a", f"const {a} a").replace("_Float16 acc", "float acc")
    made = lx.loads(text)["f"].tile(contract=False).openmp.files
    (code,) = (t for name, t in made.items() if name.endswith(".c"))
    assert f"{a} a_loc[" in code
    assert "_Float16 b_loc[" in code


BETWEEN = """
struct blend { _Float16 alpha; int rows; };
void f(const struct blend *s, int n, int m, const _Float16 a[n][m], _Float16 b[n][m])
{
  _Float16 t[n][m];
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      t[i][j] = a[i][j] * s->alpha;
  for (int p = 0; p < n; p++)
    for (int q = 0; q < m; q++)
      b[p][q] = t[p][m - 1 - q] / 3 + t[n - 1 - p][q];
}"""
MAPPED = (
    *("parallelise i", "parallelise p", "stripmine i 4", "stripmine p 4"),
    *("map ii group.x", "map pp group.x", "map i thread.x", "map p thread.x"),
)


@pytest.mark.device
def test_what_is_passed_from_kernel_to_kernel(tmp_path: Path) -> None:
    """An array of the device, and a number in a struct."""
    plan = emit.kernel(derived(BETWEEN, *MAPPED), fp=SEPARATE)
    assert len(plan.kernels) == 2
    assert run(plan, CSource(text=BETWEEN), choose(), {"n": 9, "m": 7}, 3).ok
    require_opencl()
    (tmp_path / "f.c").write_text(BETWEEN)
    emitted = emit.opencl(derived(BETWEEN, *MAPPED), stem="f", origin="f.c", version="test")
    for name, text in emitted.files.items():
        (tmp_path / name).write_text(text)
    done = cc(tmp_path, *STRICT, "-c", "f_opencl.c")
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
@pytest.mark.device
@pytest.mark.parametrize(
    "name",
    [
        *("attention_scores", "causal_attention", "complex_product", "conv_layer", "coulomb_grid"),
        *("covariance_matrix", "csr", "embedding_bag", "filter_7x7", "force_vector", "heat_2d"),
        *("lava_boxes", "lower_pairs", "masked_mean", "matvec_transposed"),
    ],
)
def test_nests_of_the_corpus_in_halves(name: str) -> None:
    known = nest(name)
    text = re.sub(r"\b(float|double)\b(?!\.h)", "_Float16", known.file.read_text())
    tiled = lx.loads(text)[name].tile(contract=False, Ty=2, Tx=4, Tk=4, Ry=2, Rx=2)
    plan = emit.kernel(tiled.derivation, fp=SEPARATE)
    both = Comparison(plan, CSource(text=text), choose())
    found = both.run(known.scalars, 7, inputs=known.inputs)
    assert found.ok, found.mismatches
    assert found.elements
