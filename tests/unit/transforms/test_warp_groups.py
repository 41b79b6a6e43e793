"""Products that four warps compute together, from operands in local memory."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from itertools import takewhile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from c_project import STRICT, cc, require_opencl
from c_texts import BFLOATS, MM
from conftest import Golden

from loopxform.codegen import emit
from loopxform.codegen.opencl.local_tile import Pieces
from loopxform.errors import TransformError
from loopxform.floating_point import PERMITTED
from loopxform.frontend import parse_file
from loopxform.ir.evaluate import evaluate
from loopxform.ir.nodes import Const
from loopxform.ir.warp_groups import (
    MARK,
    PANEL,
    ROW,
    Rows,
    as_instructions,
    shape_of,
)
from loopxform.recipes.tile import tile
from loopxform.schedule.params import Options
from loopxform.targets.profile import PROFILES
from loopxform.transforms import Derivation, Tensorise, step
from loopxform.verify.group.execute import execute
from loopxform.verify.group.fault import ExecutionError

H100 = PROFILES["h100"]
ANY_ORDER = PERMITTED["reassociate"]
SIZES = {"Ty": 32, "Tx": 4, "Tk": 32, "Ry": 2, "Rx": 32}
"""One group of four warps."""

HALVES = MM.replace("float A", "_Float16 A").replace("float B", "_Float16 B")
RIGHT = HALVES.replace("B[U][N]", "B[N][U]").replace("B[k][j]", "B[j][k]")
LEFT = HALVES.replace("A[M][U]", "A[U][M]").replace("A[i][k]", "A[k][i]")
ROWS = Options(stages=3, async_copies=True, vector=8, pad=False, swizzle_groups=2, index=32)


PLACED = replace(ROWS, warp_tile=(8, 4), block_cyclic=2, vector=1)


def mapped(text: str, options: Options, sizes: dict[str, int]) -> Derivation:
    *_, fn = parse_file("f.c", text=text).unit.functions
    asked = replace(options, tensor_units=True, pack=0, serpentine=0).within(ANY_ORDER)
    return tile(fn, SIZES | sizes, "register", H100, options=asked).derivation


def test_kernel_of_warp_groups(golden: Golden) -> None:
    golden.check(emit.kernel(mapped(HALVES, ROWS, {"Ty": 64}), fp=ANY_ORDER).source)


@pytest.mark.parametrize(
    ("sizes", "asked"),
    [
        ({"Tx": 8, "Rx": 16}, "64x128x16"),
        ({"Ry": 4, "Rx": 16}, "64x128x16"),
        ({"Ty": 16}, "64x128x16"),
        ({}, "64x256x16"),
    ],
)
def test_refused_groups(sizes: dict[str, int], asked: str, golden: Golden) -> None:
    done = mapped(HALVES, ROWS, sizes)
    records = takewhile(lambda r: not isinstance(r.step, Tensorise), done.records)
    before = replace(done, records=tuple(records))
    with pytest.raises(TransformError) as e:
        before.then(step(f"tensorise k#1 {asked}"))
    golden.check(e.value.render(parse_file("f.c", text=HALVES).sources) + "\n")


@pytest.mark.parametrize(
    ("text", "options", "terms", "permitted"),
    [
        (LEFT, ROWS, 32, ANY_ORDER),
        (HALVES, replace(ROWS, vector=1), 32, ANY_ORDER),
        (HALVES, replace(ROWS, async_copies=False, stages=2), 32, ANY_ORDER),
        (HALVES, ROWS, 16, ANY_ORDER),
        (HALVES, ROWS, 32, PERMITTED["contract"]),
    ],
)
def test_others_are_products_of_one_warp(
    text: str, options: Options, terms: int, permitted: Any
) -> None:
    """Rows that lie in another way, copies that the device does not make on its own, rows of other
    lengths than hosts compare, and what is not permitted."""
    plan = emit.kernel(mapped(text, options, {"Tk": terms}), fp=permitted)
    assert not plan.group_products
    assert "LX_WGMMA" not in plan.source


# ---------------------------------------------------------------- where operands lie


@pytest.mark.parametrize(("row", "panels"), [(ROW, False), (PANEL, True)])
def test_elements_are_where_their_shape_says(row: int, panels: bool) -> None:
    """The layout that kernels copy to, against what PTX says of descriptors."""
    terms = 32 if panels else row // 2
    pieces = Pieces(Rows(row), 2, panels=panels)
    shape = shape_of(Rows(row).shape(PANEL * terms if panels else 0))
    for line in range(128):
        for first in range(0, terms, 16):
            start = first * PANEL if panels else 2 * first
            cells = shape.cells(start, line, 16, panels=panels)
            for k, cell in enumerate(cells, first):
                place = [Const(n) for n in ((k, line) if panels else (line, k))]
                *slow, fast = (evaluate(e, {}) for e in pieces.index(*place))
                rows = slow[0] if not panels else slow[0] * terms + slow[1]
                assert cell == row * rows + 2 * fast


# ---------------------------------------------------------------- runs


def products(
    shape: tuple[int, int, int], *, turned: bool = False, bfloats: bool = False
) -> tuple[dict[str, Any], Any, Any]:
    """Numbers of several magnitudes, what is right, and the sums of magnitudes."""
    m, u, n = shape
    rng = np.random.default_rng(m + u + n)
    both = [
        (rng.standard_normal(x) * 2.0 ** rng.integers(-3, 4, x)).astype(np.float16)
        for x in ((m, u), (u, n))
    ]
    if bfloats:
        whole = [(x.astype(np.float32).view(np.uint32) >> 16 << 16) for x in both]
        a, b = ((x >> 16).astype(np.uint16) for x in whole)
        left, right = (x.view(np.float32).astype(float) for x in whole)
    else:
        a, b = both
        left, right = a.astype(float), b.astype(float)
    args = {"M": m, "U": u, "N": n, "A": a, "B": np.ascontiguousarray(b.T) if turned else b}
    return args | {"C": np.full((m, n), 7, np.float32)}, left @ right, abs(left) @ abs(right)


RUNS: dict[str, tuple[str, dict[str, int], tuple[int, int, int]]] = {
    "panels": (HALVES, {}, (60, 40, 120)),
    "terms": (RIGHT, {}, (70, 40, 130)),
    "bfloats": (BFLOATS, {}, (66, 40, 136)),
    "wide": (HALVES, {"Rx": 64, "stages": 2}, (8, 40, 264)),
    "wide-terms": (RIGHT, {"Rx": 64, "stages": 2}, (65, 32, 256)),
}


@pytest.mark.parametrize(
    "case", [pytest.param(x, marks=[pytest.mark.slow] if x != "panels" else []) for x in RUNS]
)
def test_products_of_warps_are_right(case: str) -> None:
    """By warps together, by each warp, and by work-items."""
    text, sizes, shape = RUNS[case]
    own = {n: v for n, v in sizes.items() if n != "stages"}
    options = replace(ROWS, stages=sizes.get("stages", 3))
    plan = emit.kernel(mapped(text, options, own), fp=ANY_ORDER)
    assert plan.group_products
    args, exact, most = products(shape, turned=text == RIGHT, bfloats=text == BFLOATS)
    for form in ({}, {"warp_groups": False}, {"asynchronous": False}):
        given = {n: x.copy() if isinstance(x, np.ndarray) else x for n, x in args.items()}
        execute(plan, given, **form)
        assert (abs(given["C"] - exact) <= shape[1] * 2.0**-24 * most).all(), form


def test_reads_before_the_barrier_are_found() -> None:
    """Work-items are taken to read what the instructions read for them."""
    plan = emit.kernel(mapped(HALVES, ROWS, {}), fp=ANY_ORDER)
    changed = tuple(
        replace(k, text=k.text.replace("barrier(CLK_LOCAL_MEM_FENCE);", "", 1))
        for k in plan.kernels
    )
    args, *_ = products((64, 32, 128))
    with pytest.raises(ExecutionError):
        execute(replace(plan, kernels=changed), args)


# ---------------------------------------------------------------- what the host does


PTX = f".version 8.0\n.target sm_90, texmode_independent\n{MARK}a.b;\n mov;\n\t{MARK}c;"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (PTX, PTX.replace("sm_90", "sm_90a").replace(MARK, " " * len(MARK))),
        (PTX.replace("sm_90", "sm_80"), None),
        (PTX.replace(MARK, ""), PTX.replace(MARK, "")),
    ],
)
def test_comments_become_instructions(text: str, expected: str | None) -> None:
    assert as_instructions(text) == expected


MAIN = """
#include "f_opencl.c"
#include <stdio.h>

int main(void)
{
  static unsigned char text[4096];
  size_t count = fread(text, 1, sizeof text - 1, stdin);
  if (lx_as_instructions(text, &count) == NULL)
    return 2;
  return fwrite(text, 1, count, stdout) != count;
}
"""


@pytest.mark.opencl_sdk
def test_the_written_c_makes_them_instructions(tmp_path: Path) -> None:
    require_opencl()
    (fn,) = parse_file("f.c", text=HALVES).unit.functions
    derivation = mapped(HALVES, ROWS, {})
    assert derivation.start.name == fn.name
    files = emit.opencl(derivation, stem="f", origin="f.c", version="1", fp=ANY_ORDER).files
    for name, text in {**files, "main.c": MAIN}.items():
        (tmp_path / name).write_text(text)
    built = cc(tmp_path, *STRICT[:3], "main.c", "-o", "main", "-lOpenCL", "-lm")
    assert not built.returncode, built.stderr
    for text in (PTX, PTX.replace("sm_90", "sm_80")):
        done = subprocess.run([tmp_path / "main"], input=text, capture_output=True, text=True)
        assert (done.stdout or None) == as_instructions(text)
        assert done.returncode == (0 if done.stdout else 2)
