"""Sums of few terms, whose number is known: in blocks of two loops from some number of terms on, in
strips of rows below, and several results of a work-item where the terms are written out."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from harness import assert_runs_agree

import loopxform as lx
from loopxform.codegen import emit
from loopxform.floating_point import SEPARATE
from loopxform.verify.cref import CSource

sys.path.append(str(Path(__file__).parents[2] / "scripts"))

from few_terms import LAYER, PRODUCT

POINTS = """\
void f(int n, int m, const float p[n][3], const float q[m][3], float d[n][m])
{
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      float x = p[i][0] - q[j][0], y = p[i][1] - q[j][1], z = p[i][2] - q[j][2];
      d[i][j] = x * x + y * y + z * z;
    }
}
"""
RECIPES = {
    "product of 32 terms": (PRODUCT.format(k=32), "register", "register"),
    "product of 16 terms": (PRODUCT.format(k=16), "register", "register"),
    "product of 5 terms": (PRODUCT.format(k=5), "stencil", "register"),
    "product of one term": (PRODUCT.format(k=1), "naive", "naive"),
    "distances of points": (POINTS, "elementwise", "cache-block"),
    "layer of three channels": (LAYER, "register", "register"),
}

RUN = ("product of 16 terms", "product of 5 terms", "distances of points")


@pytest.mark.parametrize("name", RECIPES)
def test_recipes(name: str) -> None:
    text, on_gpus, on_pocl = RECIPES[name]
    routine = lx.loads(text)["f"]
    assert routine.tile(limits="h100").recipe == on_gpus
    assert routine.tile(limits="pocl").recipe == on_pocl


def test_strips_are_no_halos() -> None:
    done = lx.loads(RECIPES["product of 5 terms"][0])["f"].tile(limits="h100")
    assert done.tiled.choice.title == "tiling in strips of rows"


@pytest.mark.device
@pytest.mark.parametrize("limits", ["h100", "pocl"])
@pytest.mark.parametrize("name", RUN)
def test_as_the_c_program(name: str, limits: str) -> None:
    text = RECIPES[name][0]
    plan = emit.kernel(lx.loads(text)["f"].tile(limits=limits).derivation, fp=SEPARATE)
    several = [{"n": n, "m": m} for n, m in ((1, 1), (33, 130), (128, 31))]
    assert_runs_agree(plan, CSource(text=text), several, 3)
