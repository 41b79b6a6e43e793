"""Elements that are read behind stores that may have hit them, in kernels of one work-item.

PoCL 3.1 lets such reads pass, where both go through one `restrict` pointer and the inner loop is
unrolled.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from deriving import untiled
from harness import assert_runs_agree

from loopxform.codegen import emit
from loopxform.floating_point import SEPARATE
from loopxform.offload.program import offload
from loopxform.targets.profile import PROFILES
from loopxform.verify.cref import CSource

PARAMS = (
    "int n, int u, const int b[restrict n][4], const int v[restrict n], "
    "int h[restrict 8], int d[restrict n]"
)
BODIES = {
    "data": "h[b[i][j] & 7] = v[i] + u; d[i] = h[3];",
    "a-scalar": "int k = b[i][j] & 7; h[k] = v[i] + u; d[i] = h[3];",
    "asked": "h[b[i][j] & 7] = v[i] + u; if (h[3] > 0) d[i] = j;",
    "updated": "h[b[i][j] & 7] += v[i]; d[i] = h[3];",
    "kept": "int t; h[b[i][j] & 7] = v[i] + u; t = h[3]; d[i] = t;",
}


@pytest.mark.device
@pytest.mark.optimised
@pytest.mark.parametrize("case", BODIES)
def test_a_read_does_not_pass_a_store(case: str, tmp_path: Path) -> None:
    loops = "for (int i = 2; i < n; i += 3) for (int j = 0; j < 4; j++)"
    text = f"void f({PARAMS}) {{ {loops} {{ {BODIES[case]} }} }}"
    plan = emit.kernel(offload(untiled(text), {}, PROFILES["pocl"]).derivation, fp=SEPARATE)
    (kernel,) = plan.kernels
    assert re.findall(r"\*(\w)[,)]", kernel.text) == ["h"]
    file = tmp_path / "f.c"
    file.write_text(text)
    assert_runs_agree(plan, CSource(str(file)), ({"n": n, "u": 2} for n in (0, 1, 5, 300)), 3)
