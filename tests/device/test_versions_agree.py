"""Random functions of several nests as written C: whichever version runs a call, the host's or the
device's, the results are those of the user's C."""

from __future__ import annotations

from pathlib import Path
from random import Random

import numpy as np
import pytest
from c_project import Compared, assert_all_same, assert_same, run_app

import loopxform as lx
from loopxform.codegen.host.work import work_of_host
from loopxform.ir.nodes import Function
from loopxform.offload.program import offload

SEED = 40
SIZES = ((3, 4), (5, 2), (0, 3), (9, 8))
EXTENT = 12
LIMITS = ("always", "60", "300", "1000")
BODIES = (
    "A[i][j] = {k} * B[i][j] - A[i][j];",
    "if (j < i + {k}) A[i][j] += B[j][i];",
    "a[i] += A[i][j] * {k};",
    "B[i][j] ^= a[i] + {k};",
)
NESTS = (
    "for (int i = 0; i < m; i++) for (int j = 0; j < n; j++) {{ {0} }}",
    "for (int i = 0; i < m; i++) for (int j = i; j < n; j++) {{ {0} }}",
    "for (int t = 0; t < 2; t++) for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) {{ {0} }}",
)


def programs() -> list[Compared]:
    found, rng = list[Compared](), Random(SEED)
    for number in range(3):
        bodies = [x.format(k=rng.randint(1, 5)) for x in rng.sample(BODIES, 2)]
        nests = "\n".join(rng.choice(NESTS).format(x) for x in bodies)
        arrays = f"int A[{EXTENT}][{EXTENT}], int B[{EXTENT}][{EXTENT}], int a[{EXTENT}]"
        text = f"void f{number}(int m, int n, {arrays})\n{{\n{nests}\n}}\n"
        fn = lx.loads(text)[f"f{number}"].function
        every = tuple(arguments(fn, m, n) for m, n in SIZES)
        found.append(Compared(offload(fn, {}).derivation, text, every))
    return found


def arguments(fn: Function, m: int, n: int) -> dict[str, object]:
    shapes = {p.name: (EXTENT,) * len(p.shape) for p in fn.params if p.array}
    return {"m": m, "n": n, **{name: np.zeros(x, np.int32) for name, x in shapes.items()}}


@pytest.mark.slow
@pytest.mark.opencl_sdk
@pytest.mark.device
def test_whichever_version_runs(tmp_path: Path) -> None:
    some = programs()
    assert all(work_of_host(p.derivation.start) for p in some)
    assert_all_same(tmp_path, some)
    on_host = set[int]()
    for limit in LIMITS:
        done = run_app(tmp_path / "app", LOOPXFORM_HOST=limit, LOOPXFORM_VERBOSE="1")
        on_host.add(done.stderr.count(": on the host, as was asked for"))
        done.stderr = ""
        assert_same(done)
    assert len(on_host) == len(LIMITS), (SEED, on_host, "each leaves other calls to the host")
    assert max(on_host) == len(some) * len(SIZES)
