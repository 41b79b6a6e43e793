"""Quotients by one divisor together, in kernels of pipelines: what the user's C does, to the last
bit, on a device and in the simulator."""

from __future__ import annotations

import numpy as np
import pytest
from harness import assert_runs_agree, simulate_all

import loopxform as lx
from loopxform.codegen import emit
from loopxform.floating_point import SEPARATE
from loopxform.transforms import GatherQuotients, Speculate
from loopxform.verify.check_run import arguments
from loopxform.verify.cref import CSource

TEXT = """
void normalised(int h, int w, const float in[3][h][w], float over[h][w])
{
  float sum[h][w];
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++)
      sum[y][x] = in[0][y][x] + in[1][y][x] + in[2][y][x];
  for (int y = 1; y < h; y++)
    for (int x = 1; x < w; x++)
      over[y][x] = (in[0][y][x] / sum[y][x] - in[1][y][x] / sum[y][x])
                   + (sum[y - 1][x - 1] / sum[y][x]);
}
"""
FORMS: dict[str, dict[str, tuple[int, ...]]] = {
    "rows": {"fuse_stages": (4, 16), "tile_stages": ()},
    "blocks": {"tile_stages": (4, 16, 32)},
}


@pytest.mark.oclgrind
@pytest.mark.parametrize("form", FORMS)
def test_as_the_users_c(form: str) -> None:
    done = lx.loads(TEXT)["normalised"].offload(limits="h100", contract=False, **FORMS[form])
    kinds = {type(a.step) for a in done.derivation.records}
    assert {GatherQuotients, Speculate} <= kinds
    p = emit.kernel(done.derivation, fp=SEPARATE)
    assert "quick_division_with" in p.source
    sizes: list[dict[str, int | float]] = [{"h": h, "w": w} for h, w in ((1, 1), (9, 2), (30, 70))]
    assert_runs_agree(p, CSource(text=TEXT), sizes, 5)
    report, after = simulate_all(p, [arguments(p.start, {"h": 9, "w": 35}, 3, None)])
    assert report.clean, report.findings
    assert any(after)


def test_rare_operands() -> None:
    """Zeros, infinities, what is no number: the same as without the step."""
    some = np.array([0, -0.0, 1, 3, 1e-40, 1e38, np.inf, np.nan, -2], "float32")
    image = np.random.default_rng(7).choice(some, (3, 23, 37))
    found = []
    for profile in ("h100", "a100"):
        args = {"in": image, "over": np.zeros_like(image[0])}
        lx.loads(TEXT)["normalised"].offload(limits=profile).compile()(h=23, w=37, **args)
        found.append(args["over"])
    assert np.array_equal(*found, equal_nan=True)
