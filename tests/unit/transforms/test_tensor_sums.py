"""Tensorise with float sums in any order: products of halves, and of floats as sums of two numbers
of 11 bits; results within a bound."""

from __future__ import annotations

from dataclasses import replace
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
from loopxform.verify.group.execute import execute
from loopxform.verify.group.fault import ExecutionError

H100 = PROFILES["h100"]
SIZES = {"Ty": 8, "Tx": 8, "Tk": 16, "Ry": 4, "Rx": 4}
HALVES = MM.replace("float A", "_Float16 A").replace("float B", "_Float16 B")
CAST = HALVES.replace("A[i][k] * B", "(float)A[i][k] * (float)B")
RIGHT = HALVES.replace("B[U][N]", "B[N][U]").replace("B[k][j]", "B[j][k]")
TURNED = HALVES.replace("A[M][U]", "A[U][M]").replace("A[i][k]", "A[k][i]")
TURNED = TURNED.replace("B[U][N]", "B[N][U]").replace("B[k][j]", "B[j][k]")
HALF_SUMS = HALVES.replace("float acc", "_Float16 acc")
ROUNDED = HALVES.replace("A[i][k] * B[k][j]", "(_Float16)(A[i][k] * B[k][j])")
DOUBLE_SUMS = HALVES.replace("float acc", "double acc")
SHORTS = BFLOATS.replace("widened(A[i][k]) * widened(B[k][j])", "A[i][k] * B[k][j]")
OTHERS = BFLOATS.replace("<< 16", "<< 15")
FLOATS, TURNED_FLOATS = (x.replace("_Float16", "float") for x in (HALVES, TURNED))
FLOATS_OF_DOUBLES = FLOATS.replace("float B", "double B")


def mapped(text: str, options: Options, sizes: dict[str, int], level: Level) -> Derivation:
    *_, fn = parse_file("f.c", text=text).unit.functions
    asked = replace(options, tensor_units=True, pack=0).within(PERMITTED[level])
    return tile(fn, SIZES | sizes, "register", H100, options=asked).derivation


@pytest.mark.parametrize(("text", "level"), [(HALVES, "reassociate"), (FLOATS, "fast")])
def test_kernel_of_near_sums(text: str, level: Level, golden: Golden) -> None:
    derivation = mapped(text, Options(stages=2, index=64, vector=1), {}, level)
    golden.check(emit.kernel(derivation, fp=PERMITTED[level]).source, level)


@pytest.mark.parametrize("text", [HALF_SUMS, ROUNDED, DOUBLE_SUMS, SHORTS, OTHERS])
def test_other_sums_are_refused(text: str) -> None:
    before = mapped(text, Options(stages=2), {}, "contract")
    with pytest.raises(TransformError, match="is no product of tiles"):
        before.then(step("tensorise k#1 16x8x16"))


# ---------------------------------------------------------------- runs

ROWS = Options(stages=3, async_copies=True, vector=8, pad=False, swizzle_groups=2)
SHAPES = [(9, 35, 33), (33, 2, 1)]
RUNS: dict[str, tuple[str, Options, dict[str, int]]] = {
    "plain": (HALVES, Options(stages=2), {}),
    "casts": (CAST, Options(pad=False), {"Tk": 32}),
    "turned": (TURNED, Options(stages=2, swizzle_groups=2), {"Rx": 8}),
    "floats": (FLOATS, Options(stages=2, vector=4), {}),
    "bfloats": (BFLOATS, Options(stages=2), {}),
    "bfloat-rows": (BFLOATS, ROWS, {"Tk": 32}),
    "turned-floats": (TURNED_FLOATS, Options(async_copies=True, stages=3), {"Tk": 8, "Ry": 8}),
}


def numbers(text: str, shape: tuple[int, int, int]) -> dict[str, Any]:
    """Of several magnitudes."""
    m, u, n = shape
    rng = np.random.default_rng(m + u + n)
    kind = np.float32 if "float A" in text or text == BFLOATS else np.float16

    def drawn(name: str, rows: int, columns: int) -> np.ndarray[Any, Any]:
        turned = "A[U][M]" in text or (name == "B" and "B[N][U]" in text)
        extents = (columns, rows) if turned else (rows, columns)
        values = rng.standard_normal(extents) * 2.0 ** rng.integers(-3, 4, extents)
        values = values.astype(kind)
        return (values.view(np.uint32) >> 16).astype(np.uint16) if text == BFLOATS else values

    args = {"A": drawn("A", m, u), "B": drawn("B", u, n), "C": np.full((m, n), 7, np.float32)}
    return {"M": m, "U": u, "N": n, **args}


def as_numbers(a: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Unsigned shorts are the upper halves of floats."""
    wide = (a.astype(np.uint32) << 16).view(np.float32) if a.dtype == np.uint16 else a
    return wide.astype(float)


@pytest.mark.parametrize(
    "case",
    [pytest.param(x, marks=[pytest.mark.slow] if x in ("casts", "bfloats") else []) for x in RUNS],
)
def test_sums_in_any_order_are_near(case: str) -> None:
    """Halves as near as sums in order are, floats within the bound that the report names: where
    each were cut off to 11 bits, they would be a thousand times as far."""
    text, options, sizes = RUNS[case]
    floats = "float A" in text
    level: Level = "fast" if floats else "reassociate"
    plan = emit.kernel(mapped(text, options, sizes, level), fp=PERMITTED[level])
    assert [i.tile.name for i in plan.tile_products] == ["16x8x8" if floats else "16x8x16"]
    for shape in SHAPES:
        args = numbers(text, shape)
        left, right = (as_numbers(args[x]) for x in "AB")
        left, right = (left.T, right.T) if "A[U][M]" in text else (left, right)
        unit = 3 * 2.0**-20 if floats else shape[1] * 2.0**-24
        most = unit * (abs(left) @ abs(right))
        for units in (True, False):
            given = {n: x.copy() if isinstance(x, np.ndarray) else x for n, x in args.items()}
            execute(plan, given, asynchronous=units)
            assert (abs(given["C"] - left @ right) <= most).all(), (shape, units)


# ---------------------------------------------------------------- rows of vectors

IN_MATRICES: dict[str, tuple[str, Options, dict[str, int], tuple[str, ...]]] = {
    "plain": (HALVES, ROWS, {"Tk": 32}, ("", "_TURNED")),
    "right-turned": (RIGHT, replace(ROWS, index=64), {"Tk": 32, "Ry": 2, "Ty": 16}, ("", "")),
    "left-in-words": (TURNED, replace(ROWS, stages=2), {"Rx": 8}, ("",)),
    "columns-in-words": (HALVES, ROWS, {"Tk": 64, "Rx": 6, "Tx": 16}, ("",)),
    "rows-beside-banks": (HALVES, ROWS, {"Tk": 48}, ("_TURNED",)),
    "padded": (HALVES, replace(ROWS, pad=True, stages=2, async_copies=False), {}, ("", "_TURNED")),
}


def test_kernel_of_matrices(golden: Golden) -> None:
    derivation = mapped(HALVES, ROWS, {"Tk": 32}, "reassociate")
    golden.check(emit.kernel(derivation, fp=PERMITTED["reassociate"]).source)


@pytest.mark.parametrize(
    "case",
    [pytest.param(x, marks=[pytest.mark.slow] if "words" in x else []) for x in IN_MATRICES],
)
def test_matrices_hold_what_words_do(case: str) -> None:
    """Where rows are vectors, warps read operands as matrices; results are as near for full tiles
    and for parts of them."""
    text, options, sizes, macros = IN_MATRICES[case]
    plan = emit.kernel(mapped(text, options, sizes, "reassociate"), fp=PERMITTED["reassociate"])
    for name in ("", "_TURNED"):
        assert (f"LX_MATRICES{name}(A_reg" in plan.source) + (
            f"LX_MATRICES{name}(B_reg" in plan.source
        ) == macros.count(name)
    for shape in [(16, 72, 40), (8, 8, 8)]:
        args = numbers(text, shape)
        left, right = (as_numbers(args[x]) for x in "AB")
        left = left.T if "A[U][M]" in text else left
        right = right.T if "B[N][U]" in text else right
        most = shape[1] * 2.0**-24 * (abs(left) @ abs(right))
        for units in (True, False):
            given = {n: x.copy() if isinstance(x, np.ndarray) else x for n, x in args.items()}
            execute(plan, given, asynchronous=units)
            assert (abs(given["C"] - left @ right) <= most).all(), (shape, units)


MISTAKES = {
    "tiles that nothing reads arrive late": ("LX_ARRIVED(0);", "", "has arrived"),
    "a tile is read too early": ("LX_ARRIVED(1);", "LX_ARRIVED(2);", "has arrived"),
    "a tile is overwritten": ("(stage == 0 ? 2 : stage - 1)", "stage", "has arrived|no barrier"),
    "matrices lie elsewhere": ("lane / 8 % 2", "lane / 4 % 2", ""),
    "matrices are not turned": ("LX_MATRICES_TURNED(", "LX_MATRICES(", ""),
    "rows of matrices begin between vectors": ("8 * (lane / 16)", "4 * (lane / 16)", "aligned"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_are_found(mistake: str) -> None:
    """By the executor, or by what comes out."""
    old, new, message = MISTAKES[mistake]
    plan = emit.kernel(mapped(HALVES, ROWS, {"Tk": 32}, "reassociate"), fp=PERMITTED["reassociate"])
    assert any(old in k.text for k in plan.kernels)
    kernels = tuple(replace(k, text=k.text.replace(old, new)) for k in plan.kernels)
    args = numbers(HALVES, (16, 72, 40))
    exact, most = (f(args["A"].astype(float)) @ f(args["B"].astype(float)) for f in (np.copy, abs))
    if message:
        with pytest.raises(ExecutionError, match=message):
            execute(replace(plan, kernels=kernels), args)
        return
    execute(replace(plan, kernels=kernels), args)
    assert (abs(args["C"] - exact) > 2.0**-10 * most).any()


@pytest.mark.parametrize(
    ("extents", "guards", "matrices"),
    [
        ("M U N", ["U % 8 == 0 && N % 8 == 0"], True),
        ("M 64 N", ["N % 8 == 0"], True),
        ("256 64 1024", [], True),
        ("256 63 1001", [], False),
    ],
)
def test_rows_of_vectors_have_kernels_of_their_own(
    extents: str, guards: list[str], matrices: bool
) -> None:
    """Under what the host has to ask for them; where sizes are known, they are all there is, or
    there are none."""
    text, known = HALVES, extents.split()
    for name, size in zip("MUN", known):
        text = text.replace(f"int {name}", f"int {name}_").replace(f"[{name}]", f"[{size}]")
        text = text.replace(f"< {name};", f"< {size};") if size.isdigit() else text
        text = text if size.isdigit() else text.replace(f"int {name}_", f"int {name}")
    (fn,) = parse_file("f.c", text=text).unit.functions
    asked = Options(tensor_units=True).within(PERMITTED["reassociate"])
    tiled = tile(fn, {}, None, H100, options=asked)
    source = emit.kernel(tiled.derivation, fp=PERMITTED["reassociate"]).source
    assert ("LX_MATRICES(" in source) == matrices
    assert ("LX_WORD(" in source) == (bool(guards) or not matrices)
    listing = shown(tiled.derivation)
    assert all(g in listing for g in guards)
    assert guards or "% 8" not in listing


# ---------------------------------------------------------------- the plan


@pytest.mark.parametrize(
    ("text", "level", "units"),
    [
        (HALVES, "strict", False),
        (HALVES, "contract", False),
        (HALVES, "reassociate", True),
        (CAST, "fast", True),
        (HALF_SUMS, "fast", False),
        (DOUBLE_SUMS, "fast", False),
        (FLOATS, "reassociate", False),
        (FLOATS, "fast", True),
        (FLOATS_OF_DOUBLES, "fast", False),
    ],
)
def test_units_where_sums_may_be_in_any_order(text: str, level: Level, units: bool) -> None:
    (fn,) = parse_file("f.c", text=text).unit.functions
    asked = Options(tensor_units=True).within(PERMITTED[level])
    derivation = tile(fn, {} if units else SIZES, None, H100, options=asked).derivation
    assert bool(emit.kernel(derivation, fp=PERMITTED[level]).tile_products) == units
    assert not emit.kernel(derivation, fp=PERMITTED["contract"]).tile_products
