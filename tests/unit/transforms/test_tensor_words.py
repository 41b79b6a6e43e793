"""Tensorise with operands in words: products of integers of eight bits."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from conftest import Golden
from deriving import shown

from loopxform.codegen import emit
from loopxform.errors import TransformError
from loopxform.floating_point import PERMITTED
from loopxform.frontend import parse_file
from loopxform.ir.tensor_tiles import TENSOR_TILES
from loopxform.recipes.tile import tile
from loopxform.schedule.params import Options
from loopxform.targets.profile import PROFILES
from loopxform.transforms import Derivation, step
from loopxform.verify.group.execute import execute

H100 = replace(
    PROFILES["h100"], paired_lanes=False, costs=replace(PROFILES["h100"].costs, read_latency=1)
)
"""As tiles for tensor units are made: work-items row by row, registers read one iteration ahead."""
SIZES = {"Ty": 8, "Tx": 8, "Tk": 32, "Ry": 4, "Rx": 4}
"""Two warps in a group."""

BYTES = """\
void mm(int M, int U, int N, signed char A[M][U], signed char B[U][N], int C[M][N])
{
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      int acc = 0;
      for (int k = 0; k < U; k++)
        acc += A[i][k] * B[k][j];
      C[i][j] = acc;
    }
}
"""
UNSIGNED = BYTES.replace("signed char", "unsigned char").replace("int acc", "unsigned acc")
UNSIGNED = UNSIGNED.replace("int C", "unsigned C")
MIXED = BYTES.replace("signed char A", "unsigned char A")
TURNED = BYTES.replace("A[M][U]", "A[U][M]").replace("A[i][k]", "A[k][i]")
TURNED = TURNED.replace("B[U][N]", "B[N][U]").replace("B[k][j]", "B[j][k]")
UPDATE = BYTES.replace("int acc = 0", "int acc = C[i][j]").replace(
    "A[i][k] * B", "B[k][j] * (int)A"
)
UPDATE = UPDATE.replace("(int)A[k][j]", "(int)A[i][k]")
LONG = BYTES.replace("int acc", "long acc").replace("int C", "long C")
SHORT = BYTES.replace("signed char B", "short B")
NARROW = BYTES.replace("A[i][k] * B", "(short)A[i][k] * B")
WRAPPED = MIXED.replace("A[i][k] * B", "(signed char)A[i][k] * B")
LESS = BYTES.replace("+=", "-=")
FURTHER = BYTES.replace("A[M][U]", "A[M][U + 1]").replace("A[i][k]", "A[i][k + 1]")

PLACED = Options(
    register_pipeline=False,
    warp_tile=(8, 4),
    block_cyclic=2,
    vector=1,
    index=64,
    serpentine=0,
    pad=True,
    stages=2,
    pack=0,
)
STEP = "tensorise k 16x8x32"


def mapped(text: str, options: Options, sizes: dict[str, int]) -> Derivation:
    (fn,) = parse_file("f.c", text=text).unit.functions
    return tile(fn, SIZES | sizes, "register", H100, options=options).derivation


def test_profiles_have_tiles_for_every_product() -> None:
    alone = {n: t for n, t in TENSOR_TILES.items() if t.warps == 1}
    assert dict(H100.tensor_tiles).keys() == {n for n, t in alone.items() if not t.function}
    intel = [*PROFILES["intel-xe-hpg"].tensor_tiles, *PROFILES["intel-xe2"].tensor_tiles]
    assert dict(intel).keys() == {n for n, t in alone.items() if t.function}


def test_kernel_of_words(golden: Golden) -> None:
    derivation = mapped(BYTES, PLACED, {}).then(step(STEP))
    golden.check(shown(derivation), "listing")
    golden.check(emit.kernel(derivation).source)


REFUSALS: dict[str, tuple[str, Options, dict[str, int], str]] = {
    "doubles": (BYTES, PLACED, {}, "tensorise k 16x8x4"),
    "long-sums": (LONG, PLACED, {}, STEP),
    "short-operand": (SHORT, PLACED, {}, STEP),
    "another-value": (WRAPPED, PLACED, {}, STEP),
    "subtracted": (LESS, PLACED, {}, STEP),
    "few-terms": (BYTES, PLACED, {"Tk": 16}, STEP),
    "short-rows": (BYTES, PLACED, {"Ty": 8, "Ry": 2}, STEP),
    "read-ahead": (BYTES, replace(PLACED, register_pipeline=True), {"Tk": 64}, STEP),
}


@pytest.mark.parametrize("case", REFUSALS)
def test_refused_words(case: str, golden: Golden) -> None:
    text, options, sizes, asked = REFUSALS[case]
    before = mapped(text, options, sizes)
    with pytest.raises(TransformError) as e:
        before.then(step(asked))
    golden.check(e.value.render(parse_file("f.c", text=text).sources) + "\n")


# ---------------------------------------------------------------- runs

SHAPES = [(9, 33, 35), (33, 2, 1), (5, 65, 18)]
RUNS: dict[str, tuple[str, Options, dict[str, int]]] = {
    "signed": (BYTES, Options(stages=2, pad=True), {}),
    "vectors": (BYTES, Options(stages=2, pad=True, vector=4), {}),
    "unsigned": (UNSIGNED, Options(pad=True, swizzle_groups=2), {"Tk": 64}),
    "mixed": (MIXED, Options(pad=False), {"Ry": 8}),
    "turned": (TURNED, Options(stages=2, pad=True), {}),
    "update": (UPDATE, Options(stages=2, pad=True), {"Rx": 8}),
    "asynchronous": (BYTES, Options(async_copies=True, stages=3, pad=True), {}),
    "further": (FURTHER, Options(stages=2, pad=True), {}),
}


def numbers(text: str, shape: tuple[int, int, int]) -> dict[str, Any]:
    """Any bytes, the extreme ones among them."""
    m, u, n = shape
    rng = np.random.default_rng(m + u + n)

    def drawn(name: str, rows: int, columns: int) -> np.ndarray[Any, Any]:
        kind = np.uint8 if f"unsigned char {name}" in text else np.int8
        bits = rng.choice([0, 1, 127, 128, 255, *rng.integers(0, 256, 20)], (rows, columns))
        return bits.astype(np.uint8).view(kind)

    a = drawn("A", *((u, m) if text is TURNED else (m, u + (text is FURTHER))))
    b = drawn("B", *((n, u) if text is TURNED else (u, n)))
    c = rng.integers(-(2**31), 2**31, (m, n)).astype(np.int32)
    return {
        "M": m,
        "U": u,
        "N": n,
        "A": a,
        "B": b,
        "C": c.view(np.uint32) if text is UNSIGNED else c,
    }


SLOW = {"update", "asynchronous"}


@pytest.mark.parametrize(
    "case", [pytest.param(x, marks=[pytest.mark.slow] if x in SLOW else []) for x in RUNS]
)
def test_words_compute_what_c_does(case: str) -> None:
    """Sums are those of C, whatever lies behind the ends of rows and columns."""
    text, options, sizes = RUNS[case]
    plan = emit.kernel(mapped(text, replace(options, tensor_units=True, pack=0), sizes))
    assert plan.tile_products
    for shape in SHAPES:
        args = numbers(text, shape)
        left, right = (args[x].astype(np.int64) for x in "AB")
        left, right = (left.T, right.T) if text is TURNED else (left, right)
        left = left[:, 1:] if text is FURTHER else left
        start = args["C"] // 2 if text is UPDATE else 0 * args["C"]
        expected = (left @ right + start).astype(args["C"].dtype)
        for units in (True, False):
            given = {n: x.copy() if isinstance(x, np.ndarray) else x for n, x in args.items()}
            given["C"] = start.copy() if text is UPDATE else given["C"]
            execute(plan, given, asynchronous=units)
            assert np.array_equal(given["C"], expected), (shape, units)


# ---------------------------------------------------------------- the plan


@pytest.mark.parametrize(
    ("text", "level", "macros"),
    [
        (BYTES, "strict", ["LX_MMA_16_8_32_S8_S8"]),
        (UNSIGNED, "contract", ["LX_MMA_16_8_32_U8_U8"]),
        (MIXED, "contract", ["LX_MMA_16_8_32_U8_S8"]),
        (NARROW, "contract", ["LX_MMA_16_8_32_S8_S8"]),
        (LONG, "fast", []),
        (SHORT, "fast", []),
    ],
)
def test_units_for_bytes(text: str, level: Any, macros: list[str]) -> None:
    """Exact results need no permission."""
    (fn,) = parse_file("f.c", text=text).unit.functions
    asked = Options(tensor_units=True).within(PERMITTED[level])
    sizes = {} if level == "strict" else SIZES
    plan = emit.kernel(tile(fn, sizes, None, H100, options=asked).derivation, fp=PERMITTED[level])
    assert [i.macro for i in plan.tile_products] == macros
