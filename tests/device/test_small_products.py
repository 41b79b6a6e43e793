"""Batches of small products: work-items read operands from global memory, in vectors where rows are
some, whatever the shapes, the layouts and the type.
"""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import Golden
from harness import simulate_launches

import loopxform as lx
from loopxform.codegen import emit
from loopxform.codegen.plan import Plan
from loopxform.floating_point import SEPARATE
from loopxform.runtime.selection import choose
from loopxform.targets.profile import PROFILES
from loopxform.verify.check_run import Comparison, arguments
from loopxform.verify.compare import compare
from loopxform.verify.cref import CSource, Library

SEED = 21
DEVICE = replace(PROFILES["h100"], compute_units=4)
LAYOUTS = {"A": ("[p][i][k]", "[p][k][i]"), "B": ("[p][k][j]", "[p][j][k]"), "C": ("[p][i][j]",)}


def text(rows: int, terms: int, columns: int, kind: str, a: str, b: str, op: str = "=") -> str:
    """A batch of products of these extents; `a` and `b` are how operands are subscripted."""
    extents = {"p": "n", "i": str(rows), "j": str(columns), "k": str(terms)}

    def shape(subscripts: str) -> str:
        return "".join(f"[{extents[c]}]" for c in subscripts if c in extents)

    return f"""
void f(int n, const {kind} A{shape(a)}, const {kind} B{shape(b)}, {kind} C[n][{rows}][{columns}])
{{
  for (int p = 0; p < n; p++)
    for (int i = 0; i < {rows}; i++)
      for (int j = 0; j < {columns}; j++) {{
        {kind} s = 0;
        for (int k = 0; k < {terms}; k++)
          s += A{a} * B{b};
        C[p][i][j] {op} s;
      }}
}}
"""


def plan(path: Path, **asked: Any) -> Plan:
    done = lx.load(path)["f"].tile(limits=DEVICE, contract=False, **asked)
    return emit.kernel(done.derivation, fp=SEPARATE)


def drawn(draw: random.Random) -> str:
    rows, terms, columns = (draw.choice((1, 2, 3, 4, 5, 6, 8, 12, 16)) for _ in range(3))
    kind = draw.choice(("float", "float", "double", "int"))
    a, b = (draw.choice(LAYOUTS[x]) for x in "AB")
    return text(rows, terms, columns * 2, kind, a, b, draw.choice(("=", "+=")))


def check(path: Path, source: str, **asked: Any) -> Plan:
    path.write_text(source)
    p = plan(path, **asked)
    both = Comparison(p, CSource(str(path)), choose())
    for n in (0, 1, 37):
        found = both.run({"n": n}, SEED)
        assert found.ok, (source, n, found.mismatches)
    return p


def test_a_kernel(tmp_path: Path, golden: Golden) -> None:
    (tmp_path / "f.c").write_text(text(16, 16, 16, "float", "[p][i][k]", "[p][k][j]"))
    golden.check(plan(tmp_path / "f.c").source.partition("__kernel")[2])


@pytest.mark.device
@pytest.mark.parametrize("number", range(3))
def test_random_shapes_and_layouts(number: int, tmp_path: Path) -> None:
    source = drawn(random.Random(f"{SEED} {number}"))
    print(source)
    check(tmp_path / "f.c", source)


@pytest.mark.slow
@pytest.mark.device
@pytest.mark.parametrize("number", range(3, 60))
def test_more_random_shapes_and_layouts(number: int, tmp_path: Path) -> None:
    source = drawn(random.Random(f"{SEED} {number}"))
    print(source)
    check(tmp_path / "f.c", source)


@pytest.mark.device
@pytest.mark.parametrize("sizes", [{"Ry": 3}, {"Ty": 3, "Tz": 2, "Rx": 1}], ids=str)
def test_sizes_that_divide_nothing(sizes: dict[str, int], tmp_path: Path) -> None:
    source = text(8, 8, 12, "float", "[p][i][k]", "[p][k][j]")
    check(tmp_path / "f.c", source, recipe="coarsened", **sizes)


@pytest.mark.parametrize(
    ("rows", "terms", "columns"), [(16, 16, 5), (64, 16, 64), (16, 100, 16), (2, 16, 4)]
)
def test_other_recipes_take(rows: int, terms: int, columns: int, tmp_path: Path) -> None:
    """Rows that no vector divides, loops of many iterations, long sums; and what one work-item
    computes alone."""
    source = text(rows, terms, columns, "float", "[p][i][k]", "[p][k][j]")
    (tmp_path / "f.c").write_text(source)
    assert lx.load(tmp_path / "f.c")["f"].tile(limits=DEVICE).tiled.recipe != "coarsened"


@pytest.mark.oclgrind
@pytest.mark.parametrize("layout", [0, 1])
def test_no_race_and_nothing_out_of_bounds(layout: int, tmp_path: Path) -> None:
    a, b = (LAYOUTS[x][layout] for x in "AB")
    (tmp_path / "f.c").write_text(text(6, 8, 4, "float", a, b))
    p = plan(tmp_path / "f.c")
    assert "LX_VECTOR(float" in p.source
    args = arguments(p.start, {"n": 13}, SEED)
    report, after = simulate_launches(p, args)
    assert report.clean, report.findings[0]
    Library(CSource(str(tmp_path / "f.c")), [p.start]).run("f", args)
    assert np.any(args["C"])
    assert not compare({n: args[n] for n in after}, after)
