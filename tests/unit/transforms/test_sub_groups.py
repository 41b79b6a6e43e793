"""Tensorise with tiles that a sub-group multiplies by a function of OpenCL C."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from c_texts import BFLOATS, MM
from conftest import Golden
from deriving import shown

from loopxform.codegen import emit
from loopxform.errors import TransformError
from loopxform.floating_point import PERMITTED, Level
from loopxform.frontend import parse_file
from loopxform.recipes.tile import tile
from loopxform.schedule.params import Options
from loopxform.targets.profile import PROFILES
from loopxform.transforms import Derivation, step
from loopxform.validate.validation import validate
from loopxform.verify.group.execute import execute
from loopxform.verify.group.fault import ExecutionError

SIZES = {"Ty": 2, "Tx": 16, "Tk": 32, "Ry": 8, "Rx": 2}
ANY_ORDER = PERMITTED["reassociate"]

HALVES = MM.replace("float A", "_Float16 A").replace("float B", "_Float16 B")
TURNED = HALVES.replace("A[M][U]", "A[U][M]").replace("A[i][k]", "A[k][i]")
TURNED = TURNED.replace("B[U][N]", "B[N][U]").replace("B[k][j]", "B[j][k]")
BYTES = MM.replace("float A", "signed char A").replace("float B", "signed char B")
BYTES = BYTES.replace("float", "int")
MIXED = BYTES.replace("signed char A", "unsigned char A")
UNSIGNED = BYTES.replace("signed char", "unsigned char").replace("int acc", "unsigned acc")
UNSIGNED = UNSIGNED.replace("int C", "unsigned C")
DOUBLES = MM.replace("float", "double")
LESS = BYTES.replace("+=", "-=")


def mapped(
    text: str, profile: str, sizes: dict[str, int], options: Options, level: Level = "reassociate"
) -> Derivation:
    *_, fn = parse_file("f.c", text=text).unit.functions
    asked = replace(options, tensor_units=True, pack=0).within(PERMITTED[level])
    return tile(fn, SIZES | sizes, "register", PROFILES[profile], options=asked).derivation


def test_kernel_of_sub_groups(golden: Golden) -> None:
    derivation = mapped(BYTES, "intel-xe2", {}, Options(index=64, vector=1))
    golden.check(shown(derivation), "listing")
    golden.check(emit.kernel(derivation, fp=ANY_ORDER).source)


# ---------------------------------------------------------------- runs

SHAPES = [(9, 35, 33), (33, 2, 1)]
RUNS: dict[str, tuple[str, str, dict[str, int], Options, str]] = {
    "halves": (HALVES, "intel-xe2", {}, Options(), "LX_MMA_8_16_16"),
    "by-eight": (HALVES, "intel-xe-hpg", {"Ry": 16, "Tk": 16}, Options(), "LX_MMA_8_8_16"),
    "turned": (TURNED, "intel-xe2", {"Ty": 1}, Options(stages=1), "LX_MMA_8_16_16"),
    "vectors": (HALVES, "intel-xe2", {"Tx": 32, "Ty": 1}, Options(vector=4), "LX_MMA_8_16_16"),
    "bfloats": (BFLOATS, "intel-xe2", {}, Options(), "LX_MMA_8_16_16_BF16"),
    "bytes": (BYTES, "intel-xe2", {}, Options(swizzle_groups=2), "LX_MMA_8_16_32_S8_S8"),
    "mixed": (MIXED, "intel-xe-hpg", {"Tx": 8}, Options(), "LX_MMA_8_8_32_U8_S8"),
    "unsigned": (UNSIGNED, "intel-xe2", {"Tk": 64}, Options(), "LX_MMA_8_16_32_U8_U8"),
}


def numbers(text: str, shape: tuple[int, int, int]) -> dict[str, Any]:
    """Any bytes, the extreme ones among them; of floats whole numbers, whose sums are exact."""
    m, u, n = shape
    rng = np.random.default_rng(m + u + n)

    def drawn(name: str, rows: int, columns: int) -> np.ndarray[Any, Any]:
        extents = (columns, rows) if text is TURNED else (rows, columns)
        if text in (HALVES, TURNED):
            return rng.integers(-99, 100, extents).astype(np.float16)
        if text == BFLOATS:
            whole = rng.integers(-99, 100, extents).astype(np.float32)
            return (whole.view(np.uint32) >> 16).astype(np.uint16)
        kind = np.uint8 if f"unsigned char {name}" in text else np.int8
        bits = rng.choice([0, 1, 127, 128, 255, *rng.integers(0, 256, 20)], extents)
        return bits.astype(np.uint8).view(kind)

    total = np.uint32 if text is UNSIGNED else np.int32 if "char" in text else np.float32
    args = {"A": drawn("A", m, u), "B": drawn("B", u, n), "C": np.full((m, n), 7, total)}
    return {"M": m, "U": u, "N": n, **args}


def product(text: str, args: dict[str, Any]) -> np.ndarray[Any, Any]:
    """What the program computes: 24 bits hold it."""
    left, right = (args[x] for x in "AB")
    if text == BFLOATS:
        left, right = ((x.astype(np.uint32) << 16).view(np.float32) for x in (left, right))
    left, right = (x.T if text is TURNED else x for x in (left, right))
    return np.asarray(left.astype(float) @ right.astype(float))


@pytest.mark.parametrize("case", RUNS)
def test_sub_groups_compute_what_c_does(case: str) -> None:
    """As work-items do on devices without the functions."""
    text, profile, sizes, options, macro = RUNS[case]
    plan = emit.kernel(mapped(text, profile, sizes, options), fp=ANY_ORDER)
    assert [i.macro for i in plan.tile_products] == [macro]
    for shape in SHAPES:
        args = numbers(text, shape)
        for units in (True, False):
            given = {n: x.copy() if isinstance(x, np.ndarray) else x for n, x in args.items()}
            execute(plan, given, asynchronous=units)
            assert np.array_equal(given["C"], product(text, args)), (shape, units)


@pytest.mark.parametrize("width", [1, 2, 4])
def test_columns_may_be_dealt_out_in_any_way(width: int) -> None:
    """All of a work-item are neighbours, or some."""
    (fn,) = parse_file("f.c", text=MIXED).unit.functions
    placed = Options(warp_tile=(1, 16), block_cyclic=width, serpentine=0, stages=2, pack=0)
    sizes = {**SIZES, "Rx": 4}
    before = tile(fn, sizes, "register", PROFILES["intel-xe2"], options=placed).derivation
    args = numbers(MIXED, (20, 40, 70))
    execute(emit.kernel(before.then(step("tensorise k 8x16x32"))), args)
    assert np.array_equal(args["C"], product(MIXED, args))


def test_sums_of_floats_are_rounded_once() -> None:
    """2**24 + 1 + ... + 1, 15 times, is 2**24 + 15, which is rounded to 2**24 + 16; in order it
    would be 2**24."""
    args = numbers(HALVES, (8, 16, 16))
    args["A"][:], args["B"][:], args["A"][:, 0], args["B"][0] = 1, 1, 4096, 4096
    execute(emit.kernel(mapped(HALVES, "intel-xe2", {}, Options()), fp=ANY_ORDER), args)
    assert (args["C"] == 2**24 + 16).all()


MISTAKES = {
    "terms of a neighbour": ("[k + term]", "[k + (term ^ 1)]", ""),
    "words of another column": ("2*local_x + 2*c0*Tx", "2*(15 - local_x) + 2*c0*Tx", ""),
    "other places": ("item = LX_ITEM_16(", "item = Tx*Ty - 1 - LX_ITEM_16(", ""),
    "no barrier": ("      barrier(CLK_LOCAL_MEM_FENCE);\n      if", "      if", "barrier"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_are_found(mistake: str) -> None:
    """By the executor, or by what comes out."""
    old, new, message = MISTAKES[mistake]
    plan = emit.kernel(mapped(HALVES, "intel-xe2", {}, Options(vector=1)), fp=ANY_ORDER)
    assert any(old in k.text for k in plan.kernels)
    kernels = tuple(replace(k, text=k.text.replace(old, new)) for k in plan.kernels)
    args = numbers(HALVES, (16, 40, 32))
    if message:
        with pytest.raises(ExecutionError, match=message):
            execute(replace(plan, kernels=kernels), args)
        return
    execute(replace(plan, kernels=kernels), args)
    assert not np.array_equal(args["C"], product(HALVES, args))


# ---------------------------------------------------------------- the plan

REFUSALS: dict[str, tuple[str, dict[str, int], str]] = {
    "few-rows": (BYTES, {"Ry": 4}, "8x16x32"),
    "few-terms": (BYTES, {"Tk": 16}, "8x16x32"),
    "few-work-items": (BYTES, {"Tx": 8}, "8x16x32"),
    "other-sub-groups": (BYTES, {}, "8x8x32"),
    "subtracted": (LESS, {}, "8x16x32"),
    "halves": (BYTES, {}, "8x16x16"),
}


@pytest.mark.parametrize("case", REFUSALS)
def test_refused_sub_groups(case: str, golden: Golden) -> None:
    text, sizes, asked = REFUSALS[case]
    (fn,) = parse_file("f.c", text=text).unit.functions
    placed = Options(warp_tile=(1, 16), vector=1, index=64, serpentine=0, stages=2, pack=0)
    limits = PROFILES["intel-xe2"]
    before = tile(fn, SIZES | sizes, "register", limits, options=placed).derivation
    with pytest.raises(TransformError) as e:
        before.then(step(f"tensorise k {asked}"))
    golden.check(e.value.render(parse_file("f.c", text=text).sources) + "\n")


def test_the_validator_does_not_prove_them(tmp_path: Path) -> None:
    """It does not model their vectors."""
    derivation = mapped(BYTES, "intel-xe2", {}, Options())
    files = emit.opencl(derivation, stem="mm", origin="mm.c", version="1").files
    for name, text in {**files, "mm.c": BYTES}.items():
        (tmp_path / name).write_text(text)
    assert validate(tmp_path / "mm.cl", tmp_path / "mm.c").status == "unmodelled"


@pytest.mark.parametrize(
    ("text", "profile", "level", "asked", "macro"),
    [
        (BYTES, "intel-xe2", "strict", None, "LX_MMA_8_16_32_S8_S8"),
        (BYTES, "intel-xe-hpg", "contract", None, "LX_MMA_8_8_32_S8_S8"),
        (BYTES, "intel-xe2", "fast", False, ""),
        (BYTES, "intel-xe", "fast", None, ""),
        (HALVES, "intel-xe2", "reassociate", None, ""),
        (HALVES, "intel-xe2", "contract", True, ""),
        (HALVES, "intel-xe2", "reassociate", True, "LX_MMA_8_16_16"),
        (DOUBLES, "intel-xe2", "fast", True, ""),
        (MM, "intel-xe2", "fast", True, ""),
    ],
)
def test_units_of_profiles(
    text: str, profile: str, level: Level, asked: bool | None, macro: str
) -> None:
    (fn,) = parse_file("f.c", text=text).unit.functions
    options = Options(tensor_units=asked).within(PERMITTED[level])
    sizes = {} if macro else SIZES
    derivation = tile(fn, sizes, None, PROFILES[profile], options=options).derivation
    plan = emit.kernel(derivation, fp=PERMITTED[level])
    assert [i.macro for i in plan.tile_products] == ([macro] if macro else [])
