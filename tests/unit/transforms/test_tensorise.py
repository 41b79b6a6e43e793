"""Tensorise: products of register tiles by the tensor units of a device."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from c_texts import MM
from conftest import Golden
from deriving import shown

from loopxform.codegen import emit
from loopxform.errors import EmitError, TransformError
from loopxform.floating_point import PERMITTED
from loopxform.frontend import parse_file
from loopxform.ir.nodes import Const, For, Function
from loopxform.ir.visit import loops, replace_at
from loopxform.recipes.tile import tile
from loopxform.schedule.params import Options
from loopxform.targets.profile import PROFILES
from loopxform.transforms import Derivation, step
from loopxform.verify.group.execute import execute

PRODUCT = MM.replace("float", "double")
UPDATE = PRODUCT.replace("double acc = 0", "double acc = C[i][j]")
SWAPPED = PRODUCT.replace("A[i][k] * B[k][j]", "B[k][j] * A[i][k]")
TURNED = PRODUCT.replace("A[M][U]", "A[U][M]").replace("A[i][k]", "A[k][i]")
SCALED = PRODUCT.replace("+= A", "+= 2 * A")
ALPHA = UPDATE.replace("int N,", "int N, double alpha,").replace("+= A", "-= alpha * A")
SCALED_RIGHT = ALPHA.replace("alpha * A[i][k] * B[k][j]", "A[i][k] * (B[k][j] * alpha)")
SCALED_LAST = ALPHA.replace("alpha * A[i][k] * B[k][j]", "A[i][k] * B[k][j] * alpha")
BATCH = """\
void mm(int P, int M, int U, int N, double A[P][M][U], double B[P][U][N], double C[P][M][N])
{
  for (int p = 0; p < P; p++)
    for (int i = 0; i < M; i++)
      for (int j = 0; j < N; j++) {
        double acc = 0;
        for (int k = 0; k < U; k++)
          acc += A[p][i][k] * B[p][k][j];
        C[p][i][j] = acc;
      }
}
"""
LESS = PRODUCT.replace("+=", "-=")
FIXED = PRODUCT.replace("int U, ", "").replace("[U]", "[512]").replace("< U", "< 512")
MIXED = PRODUCT.replace("double B", "float B")

H100 = replace(
    PROFILES["h100"], paired_lanes=False, costs=replace(PROFILES["h100"].costs, read_latency=1)
)
"""As tiles for tensor units are made: work-items row by row, registers read one iteration ahead."""
SIZES = {"Ty": 8, "Tx": 8, "Tk": 8, "Ry": 2, "Rx": 2}
"""Two warps in a group."""

PLACED = Options(warp_tile=(8, 4), block_cyclic=2, vector=1, index=64, serpentine=0, pad=False)
STEP = "tensorise k#1 16x8x4"


def mapped(text: str, options: Options, sizes: dict[str, int]) -> Derivation:
    (fn,) = parse_file("f.c", text=text).unit.functions
    options = replace(options, pack=0)
    return tile(fn, SIZES | sizes, "register", H100, options=options).derivation


def marked(fn: Function) -> list[For]:
    return [s.loop for s in loops(fn) if s.loop.tensor]


@pytest.mark.parametrize("text", [PRODUCT, SWAPPED])
def test_listing(text: str, golden: Golden) -> None:
    golden.check(shown(mapped(text, PLACED, {}).then(step(STEP))))


def test_kernel(golden: Golden) -> None:
    """Both forms end with the same in registers; the epilogue has the plain one."""
    late = replace(PLACED, stages=2, async_copies=True, register_pipeline=True)
    golden.check(emit.kernel(mapped(PRODUCT, late, {}).then(step(STEP))).source)


REFUSALS: dict[str, tuple[str, Options, dict[str, int], str]] = {
    "unknown-loop": (PRODUCT, PLACED, {}, "tensorise z 16x8x4"),
    "unknown-tile": (PRODUCT, PLACED, {}, "tensorise k#1 16x16x16"),
    "no-product": (PRODUCT, PLACED, {}, "tensorise kk#1 16x8x4"),
    "floats": (MM, PLACED, {}, STEP),
    "scaled": (SCALED_LAST, PLACED, {}, STEP),
    "guarded": (PRODUCT, PLACED, {}, "tensorise k#2 16x8x4"),
    "odd-terms": (PRODUCT, PLACED, {"Tk": 6}, STEP),
    "odd-rows": (PRODUCT, PLACED, {"Ry": 1}, STEP),
    "short-rows": (PRODUCT, PLACED, {"Tx": 4}, STEP),
    "few-work-items": (PRODUCT, PLACED, {"Ty": 4}, STEP),
    "rows-of-a-warp": (PRODUCT, replace(PLACED, warp_tile=(4, 8)), {}, STEP),
    "elements-together": (PRODUCT, replace(PLACED, block_cyclic=1), {}, STEP),
    "read-ahead": (
        PRODUCT,
        replace(PLACED, stages=2, async_copies=True, register_pipeline=True),
        {"Tk": 4},
        STEP,
    ),
}


@pytest.mark.parametrize("case", REFUSALS)
def test_refusal(case: str, golden: Golden) -> None:
    text, options, sizes, asked = REFUSALS[case]
    before = mapped(text, options, sizes)
    with pytest.raises(TransformError) as e:
        before.then(step(asked))
    golden.check(e.value.render(parse_file("f.c", text=text).sources) + "\n")


def test_work_items_along_z_are_refused() -> None:
    """A warp would be of several of their numbers."""
    fn = mapped(PRODUCT, PLACED, {}).function
    product = next(s for s in loops(fn) if s.loop.var == "k")
    y = next(s for s in loops(fn) if s.path == product.path[:-2])
    assert y.loop.level is not None
    for count, problem in ((1, ""), (2, "it is not all that the work-items of two loops do")):
        level = replace(y.loop.level, dimension=2, lanes=0)
        z = For("z", Const(0), Const(count), Const(1), (y.loop,), level=level)
        found = step(STEP).check(replace_at(fn, y.path, (z,)))
        assert bool(found) == bool(problem)
        assert all(problem in o.message for o in found)


def test_a_mark_that_is_wrong_is_not_believed() -> None:
    """Whatever came after the step: the kernel asks again."""
    start = mapped(PRODUCT, replace(PLACED, block_cyclic=1), {})
    site = next(s for s in loops(start.function) if s.loop.var == "k")
    fn = replace_at(start.function, site.path, (replace(site.loop, tensor="16x8x4"),))
    with pytest.raises(EmitError, match="is no product of tiles"):
        emit.program_plan(fn, start.start)


# ---------------------------------------------------------------- runs


SHAPES = [(16, 8, 16), (17, 21, 35), (3, 2, 1), (40, 1, 18), (5, 16, 33)]
RUNS: dict[str, tuple[str, Options, dict[str, int]]] = {
    "plain": (PRODUCT, Options(), {}),
    "vectors": (PRODUCT, Options(vector=2), {"Ry": 4}),
    "update": (UPDATE, Options(stages=2, pad=False), {"Rx": 4}),
    "converted": (MIXED, Options(), {}),
    "subtracted": (LESS, Options(), {}),
    "scaled": (SCALED, Options(stages=2), {}),
    "scaled-left": (ALPHA, Options(async_copies=True, register_pipeline=True), {}),
    "scaled-right": (SCALED_RIGHT, Options(async_copies=True, register_pipeline=True), {}),
    "swapped-and-padded": (SWAPPED, Options(stages=2, pad=True), {}),
    "turned": (TURNED, Options(async_copies=True, register_pipeline=True), {}),
    "rows-beside-banks": (PRODUCT, Options(async_copies=True, stages=2), {"Tk": 12}),
    "three-buffers": (
        PRODUCT,
        Options(async_copies=True, stages=3, register_pipeline=True, vector=2, swizzle_groups=2),
        {"Ty": 16, "Tx": 4, "Rx": 4},
    ),
}


def numbers(text: str, shape: tuple[int, int, int]) -> dict[str, Any]:
    """Elements of which each product and sum is exact, so that it does not matter what is fused."""
    m, u, n = shape
    rng = np.random.default_rng(m + u + n)
    a = rng.integers(-9, 10, (u, m) if text is TURNED else (m, u)).astype(float)
    b, c = (rng.integers(-9, 10, x).astype(float) for x in ((u, n), (m, n)))
    b = b.astype(np.float32) if text is MIXED else b
    more = {"alpha": 3.0} if "alpha" in text else {}
    return {"M": m, "U": u, "N": n, "A": a, "B": b, "C": c, **more}


@pytest.mark.parametrize("case", RUNS)
def test_the_units_compute_what_c_does(case: str) -> None:
    text, options, sizes = RUNS[case]
    derivation = mapped(text, replace(options, tensor_units=True), sizes)
    assert len(marked(derivation.function)) >= 1
    plan = emit.kernel(derivation)
    assert plan.tile_products
    for shape in SHAPES:
        args = numbers(text, shape)
        left = args["A"].T if text is TURNED else args["A"]
        scale = 2 if text is SCALED else args.get("alpha", 1)
        expected = left @ args["B"] * (-scale if "-=" in text else scale)
        expected += args["C"] if "acc = C" in text else 0
        for units in (True, False):
            given = {n: x.copy() if isinstance(x, np.ndarray) else x for n, x in args.items()}
            execute(plan, given, asynchronous=units)
            assert np.array_equal(given["C"], expected), (shape, units)


def test_products_side_by_side() -> None:
    """A third loop is one of groups."""
    plan = emit.kernel(default(BATCH))
    rng = np.random.default_rng(5)
    a, b = (rng.integers(-9, 10, x).astype(float) for x in ((2, 5, 9), (2, 9, 19)))
    args = {"P": 2, "M": 5, "U": 9, "N": 19, "A": a, "B": b, "C": np.zeros((2, 5, 19))}
    execute(plan, args)
    assert np.array_equal(args["C"], a @ b)


def test_operands_are_scaled_before_they_are_multiplied() -> None:
    """Each rounded to a double, as C has it: 3 * (1 + 2**-52) is 3 + 2**-50 then."""
    plan = emit.kernel(mapped(ALPHA, Options(tensor_units=True), {}))
    args = numbers(ALPHA, (16, 8, 16))
    args["A"], args["B"] = np.zeros((16, 8)), np.zeros((8, 16))
    args["A"][:, 0], args["B"][0], args["C"][:] = 1 + 2.0**-52, 1, 3
    execute(plan, args)
    assert (args["C"] == 3 - 3 * (1 + 2.0**-52)).all()


def test_terms_are_added_in_order() -> None:
    """In another order this would be 0: 2**60 - 2**60 + 1 is 1, 1 + 2**60 - 2**60 is not."""
    plan = emit.kernel(mapped(PRODUCT, Options(tensor_units=True), {}))
    args = numbers(PRODUCT, (16, 8, 16))
    terms = np.array([2.0**60, -(2.0**60), 1, 0, 0, 2.0**60, -(2.0**60), 1])
    args["A"], args["B"] = np.tile(terms, (16, 1)), np.ones((8, 16))
    execute(plan, args)
    assert (args["C"] == 1).all()


def test_products_are_rounded_once_with_their_sums() -> None:
    """(1 + 2**-30)**2 - (1 + 2**-29) is 2**-60."""
    plan = emit.kernel(mapped(PRODUCT, Options(tensor_units=True), {}))
    x = 1 + 2.0**-30
    args = numbers(PRODUCT, (16, 8, 16))
    args["A"], args["B"] = np.zeros((16, 8)), np.zeros((8, 16))
    args["A"][:, 0], args["B"][0] = -1, 1 + 2.0**-29
    args["A"][:, 1], args["B"][1] = x, x
    execute(plan, args)
    assert (args["C"] == 2.0**-60).all()


# ---------------------------------------------------------------- the plan


ASKED = Options(tensor_units=True)


def default(text: str, options: Options = ASKED) -> Derivation:
    (fn,) = parse_file("f.c", text=text).unit.functions
    return tile(fn, {}, None, H100, options=options).derivation


@pytest.mark.parametrize(
    ("text", "options", "units"),
    [
        (PRODUCT, ASKED, True),
        (UPDATE, ASKED, True),
        (FIXED, ASKED, True),
        (PRODUCT, Options(), True),
        (PRODUCT, Options(tensor_units=False), False),
        (PRODUCT, Options().within(PERMITTED["strict"]), False),
        (MM, Options(), False),
        (SCALED, Options(), True),
        (ALPHA, Options(), True),
        (SCALED_RIGHT, Options(), True),
        (SCALED_LAST, Options(), False),
        (BATCH, Options(), True),
        (MIXED, Options(), False),
        (MIXED, ASKED, True),
    ],
)
def test_the_profile_has_units_for_doubles(text: str, options: Options, units: bool) -> None:
    assert bool(emit.kernel(default(text, options)).tile_products) == units


def test_kernels_of_sums_that_may_not_be_fused_have_one_form() -> None:
    plan = emit.kernel(default(PRODUCT), fp=PERMITTED["strict"])
    assert "LX_MMA" not in plan.source


def test_the_host_tries_the_units_before_it_uses_them() -> None:
    """Only where there are kernels for them."""
    for text, asked in ((PRODUCT, True), (MM, False)):
        files = emit.opencl(default(text), stem="f", origin="f.c", version="1").files
        host = files["f_opencl.c"]
        assert ("-DLX_TENSOR" in host) == ("lx_multiplies_tiles" in host) == asked
