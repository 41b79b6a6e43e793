"""UnfoldWindows: a nest that reads windows of an array as a matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from c_texts import MM
from conftest import Golden
from deriving import assert_step, c, derived, refusal

from loopxform.codegen import emit
from loopxform.codegen.host import control
from loopxform.frontend import parse_file
from loopxform.ir.visit import loops
from loopxform.prepare.parallel_band import prepare
from loopxform.recipes.contraction import contraction, product_of
from loopxform.recipes.tile import tile
from loopxform.recipes.tile_nest import one_nest
from loopxform.schedule.params import Options
from loopxform.targets.profile import PROFILES
from loopxform.transforms import Derivation, UnfoldWindows
from loopxform.verify.group.execute import execute

LAYER = c(
    "for (int o = 0; o < co; o++) for (int y = 0; y < h; y++) for (int x = 0; x < w; x++) {"
    " double s = 0;"
    " for (int c = 0; c < ci; c++) for (int p = 0; p < 3; p++) for (int q = 0; q < 2; q++)"
    " s += F[o][c][p][q] * X[c][y + p][x + q];"
    " Y[y][x][o] = s; }",
    "int co, int ci, int h, int w, const double F[co][ci][3][2], const double X[ci][h + 2][w + 1],"
    " double Y[h][w][co]",
)
STRIDED = LAYER.replace("[y + p][x + q]", "[2*y + p][3*x + q]").replace(
    "[h + 2][w + 1]", "[2*h + 1][3*w]"
)
DIAGONAL = c(
    "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) d[i][j] += a[i][i] * b[j];",
    "int n, const double a[n][n], const double b[n], double d[n][n]",
)
GUARDED = DIAGONAL.replace("d[i][j] +=", "if (b[j] > 0) d[i][j] +=")
TWICE = DIAGONAL.replace("b[j];", "b[j] + a[i][j];")
INDIRECT = DIAGONAL.replace("a[i][i]", "a[i][(int)b[j]]")
TRIANGLE = DIAGONAL.replace("j < n", "j <= i").replace("a[i][i]", "a[i][j]")
WRITTEN = DIAGONAL.replace("d[i][j] +=", "d[i][i] +=")
POSITIVE = [f"assume {n}>=1" for n in ("ci", "h", "w")]
TERMS = (*POSITIVE, "assume ci<=2147483647/(2*3)")
PIXELS = (*POSITIVE, "assume w<=1073741823", "assume h<=2147483647/w")

LISTINGS = {
    "layer": (LAYER, *TERMS, *PIXELS, "unfold-windows o X c*p*q,y*x"),
    "strided": (STRIDED, *TERMS, *PIXELS, "unfold-windows o X y*x,c*p*q windows"),
    "result": (LAYER, *PIXELS, "unfold-windows o Y o,y*x"),
    "diagonal": (DIAGONAL, "interchange i j", "unfold-windows j d j,i"),
    "updated": (DIAGONAL, "unfold-windows i d j,i"),
}
EVEN = c(
    "for (int y = 0; y < 8; y++) for (int x = 0; x < 8; x++) for (int o = 0; o < 8; o++)"
    " Y[y][x][o] = 2;",
    "float Y[8][8][8]",
)
MAPPED = ("parallelise y", "parallelise x", "parallelise o", "unfold-windows y Y o,y*x")
REFUSALS = {
    "vectors": (
        *(EVEN, *MAPPED, "stripmine x 4 xx", "map y group.y", "map xx group.x"),
        *("interchange x o", "map o thread.x", "sequentialise x", "normalise x", "unroll x"),
        "store-vectors x 4",
    ),
    "unknown-loop": (LAYER, "unfold-windows z X c*p*q,y*x"),
    "unknown-array": (LAYER, "unfold-windows o Z c*p*q,y*x"),
    "inside": (LAYER, "unfold-windows y X c*p*q,y*x"),
    "not-all": (LAYER, "unfold-windows o X c*p,y*x"),
    "one-group": (LAYER, "unfold-windows o X c*p*q*y*x"),
    "not-counted": (LAYER, "unfold-windows o X c*p*q,y*x"),
    "guarded": (GUARDED, "unfold-windows i d j,i"),
    "in-two-places": (TWICE, "unfold-windows i a j,i"),
    "indirect": (INDIRECT, "unfold-windows i a j,i"),
    "triangle": (TRIANGLE, "unfold-windows i a j,i"),
    "written-twice": (WRITTEN, "unfold-windows i d i,i"),
    "mapped": (MM, "parallelise i", "map i group.x", "unfold-windows i A i,k"),
    "taken": (LAYER, *TERMS, *PIXELS, "unfold-windows o X c*p*q,y*x F"),
}


@pytest.mark.parametrize("case", LISTINGS)
def test_listing(case: str, golden: Golden) -> None:
    text, *steps = LISTINGS[case]
    golden.check(assert_step(text, *steps))


@pytest.mark.parametrize("case", REFUSALS)
def test_refusal(case: str, golden: Golden) -> None:
    text, *steps = REFUSALS[case]
    golden.check(refusal(text, *steps))


@pytest.mark.parametrize("windows", [False, True])
def test_devices_share_rows_of_arrays_alone(windows: bool) -> None:
    """A row of the matrix is none of the array."""
    steps = ("parallelise o", "unfold-windows o Y o,y*x") if windows else ("parallelise o",)
    text = c(
        "for (int o = 0; o < 8; o++) for (int y = 0; y < 8; y++) for (int x = 0; x < 8; x++)"
        " Y[o][y][x] = 2;",
        "float Y[8][8][8]",
    )
    mapped = ("stripmine o 4", "map oo group.x", "map o thread.x")
    lines = control.lines(emit.kernel(derived(text, *steps, *mapped)))
    assert any("lx_split" in x for x in lines) != windows


# ---------------------------------------------------------------- on tensor units

H100 = PROFILES["h100"]
TURNED = c(
    "for (int y = 0; y < h; y++) for (int x = 0; x < w; x++) for (int o = 0; o < co; o++) {"
    " double s = 0;"
    " for (int p = 0; p < 3; p++) for (int q = 0; q < 2; q++) for (int c = 0; c < ci; c++)"
    " s += X[y + p][x + q][c] * F[p][q][c][o];"
    " Y[y][x][o] = s; }",
    "int co, int ci, int h, int w, const double F[3][2][ci][co], const double X[h + 2][w + 1][ci],"
    " double Y[h][w][co]",
)
BYTES = LAYER.replace("const double", "const signed char").replace("double", "int")
TEXTS = {"layer": LAYER, "strided": STRIDED, "channels-last": TURNED, "bytes": BYTES}
SIZES = {"Ty": 8, "Tx": 8, "Tk": 8, "Ry": 2, "Rx": 2}


def layer(text: str, co: int, ci: int, h: int, w: int) -> dict[str, Any]:
    """The arguments, of small integers."""
    rng = np.random.default_rng(co + ci)
    shape = (2 * h + 1, 3 * w) if text is STRIDED else (h + 2, w + 1)
    kind = np.int8 if text is BYTES else np.float64
    x = rng.integers(-9, 10, (*shape, ci) if text is TURNED else (ci, *shape)).astype(kind)
    f = rng.integers(-9, 10, (3, 2, ci, co) if text is TURNED else (co, ci, 3, 2)).astype(kind)
    y = np.zeros((h, w, co), np.int32 if text is BYTES else np.float64)
    return {"co": co, "ci": ci, "h": h, "w": w, "F": f, "X": x, "Y": y}


def convolved(text: str, args: dict[str, Any]) -> np.ndarray:
    x, f = (args[n].astype(float) for n in "XF")
    if text is TURNED:
        x, f = x.transpose(2, 0, 1), f.transpose(3, 2, 0, 1)
    windows = np.lib.stride_tricks.sliding_window_view(x, (3, 2), (1, 2))
    windows = windows[:, :: 2 if text is STRIDED else 1, :: 3 if text is STRIDED else 1]
    return np.einsum("cyxpq,ocpq->yxo", windows, f)


@pytest.mark.parametrize("case", TEXTS)
def test_layers_are_products(case: str) -> None:
    """In tiles that no size is a multiple of, and in one that all are."""
    text = TEXTS[case]
    (fn,) = parse_file("f.c", text=text).unit.functions
    nest = prepare(Derivation(fn))
    found = contraction(nest)
    assert found is not None
    made = product_of(nest, found, found.windows)
    options = Options(tensor_units=True, pack=0, async_copies=case != "bytes", stages=2)
    sizes = SIZES | {"Tk": 32, "Ry": 4, "Rx": 4} if case == "bytes" else SIZES
    done = one_nest(made.nest, sizes, "register", H100, options, strict=True)
    assert any(s.loop.tensor for s in loops(done.derivation.function))
    plan = emit.kernel(done.derivation)
    assert plan.tile_products
    for shape in ((17, 3, 5, 4), (16, 4, 4, 4)):
        args = layer(text, *shape)
        for units in (True, False):
            given = {n: x.copy() if isinstance(x, np.ndarray) else x for n, x in args.items()}
            execute(plan, given, asynchronous=units)
            assert np.array_equal(given["Y"], convolved(text, args)), (shape, units)


@pytest.mark.parametrize(
    ("text", "options", "units"),
    [
        (LAYER, Options(), True),
        (TURNED, Options(), True),
        (LAYER, Options(tensor_units=False), False),
        (LAYER.replace("double", "float"), Options(), False),
    ],
)
def test_where_tensor_units_compute_them(text: str, options: Options, units: bool) -> None:
    """Others read windows as they did."""
    (fn,) = parse_file("f.c", text=text).unit.functions
    done = tile(fn, {}, None, H100, options=options).derivation
    steps = [s for r in done.records for v in getattr(r.step, "variants", ()) for s in v.steps]
    assert any(isinstance(s, UnfoldWindows) for s in steps) == units
