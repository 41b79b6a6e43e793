"""`strict`: every bit is as the user's C has it, compiled without contraction.

A NaN counts as a NaN: IEEE 754 and C leave open which of them an operation gives.
"""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

import loopxform as lx
from loopxform.verify.cref import CSource, Library

SEED = 5
FLOATS = (
    *("a[i] * b[i] - d[i]", "a[i] * a[i] + b[i] * b[i] - d[i] * a[i]", "a[i] - b[i]"),
    *("a[i] / b[i]", "a[i] / 3.0f + b[i] / 10.0f", "1.0f / sqrtf(a[i])", "sqrtf(b[i])"),
    *("a[i] * 3.0 + b[i] / 7.0", "(float)((double)a[i] * (double)b[i])", "a[i] * 0.5f * 1e-30f"),
    *("a[i] - 0.0f", "a[i] + 0.0f", "0.0f - a[i]", "-(a[i] * b[i])", "a[i] * 1.0f + 0.0f * b[i]"),
    *("a[i] / a[i] + (a[i] - a[i])", "a[i] == 0 ? 1.0f / a[i] : a[i]", "a[i] < b[i] ? a[i] : b[i]"),
    *("floorf(a[i]) + ceilf(b[i])", "truncf(a[i]) - rintf(b[i])", "roundf(a[i] * 0.5f)"),
    *("fmodf(a[i], b[i])", "remainderf(a[i], b[i])", "fmaf(a[i], b[i], d[i])"),
    *("copysignf(b[i], a[i]) - fabsf(-a[i])", "ldexpf(a[i], 3)", "(float)e[i] * 1.1f"),
    *("(float)(long)(k[i] * 1e9f)", "(float)(signed char)(k[i] * 100.0f)", "(short)e[i] * 0.1f"),
)
INTS = (
    *("(int)(k[i] * 2e9f)", "(e[i] | 1) / 7 + e[i] % 5", "(int)(unsigned char)e[i] / -3"),
    *("a[i] < b[i]", "a[i] == b[i] || a[i] != a[i]", "isnan(a[i]) != 0"),
)
SPECIAL = [0.0, -0.0, 1e-45, -1e-45, 1e-40, -3e-39, 1.17549435e-38, np.inf, -np.inf, np.nan]
SPECIAL += [3.4e38, -3.4e38, 1.0, -1.0, 0.5, 1.5, 2.5, -2.5, 16777217.0, 8388609.5]


def floats(rng: np.random.Generator, n: int) -> NDArray[np.float32]:
    """Special values, of all magnitudes, and ordinary ones."""
    with np.errstate(all="ignore"):
        wide = rng.standard_normal(n) * 10.0 ** rng.integers(-45, 38, n)
        rows = [rng.choice(SPECIAL, n), wide, rng.standard_normal(n)]
        return np.choose(rng.integers(0, 3, n), rows).astype(np.float32)


def text() -> str:
    lines = [f"    f[{m}][i] = {e};" for m, e in enumerate(FLOATS)]
    lines += [f"    g[{m}][i] = {e};" for m, e in enumerate(INTS)]
    lines += ["    float t = a[i] * b[i];", "    s[i] += t + d[i];", "    s[i] /= t - d[i];"]
    return (
        "#include <math.h>\nvoid strict(int n, const float *restrict a, const float *restrict b,\n"
        "    const float *restrict d, const float *restrict k, const int *restrict e,\n"
        f"    float f[{len(FLOATS)}][n], int g[{len(INTS)}][n], float *restrict s)\n"
        "{\n  for (int i = 0; i < n; i++) {\n" + "\n".join(lines) + "\n  }\n}\n"
    )


@pytest.mark.device
def test_every_bit_is_that_of_c() -> None:
    n, rng, source = 2003, np.random.default_rng(SEED), text()
    args = {name: floats(rng, n) for name in ("a", "b", "d", "s")}
    given = {
        "n": n,
        **args,
        "k": rng.uniform(-1, 1, n).astype(np.float32),
        "e": rng.integers(-(2**31), 2**31 - 1, n).astype(np.int32),
        "f": np.zeros((len(FLOATS), n), np.float32),
        "g": np.zeros((len(INTS), n), np.int32),
    }
    mine, theirs = ({k: v if k == "n" else v.copy() for k, v in given.items()} for _ in range(2))
    routine = lx.loads(source)["strict"]
    routine.offload(fp="strict").compile()(**mine)
    Library(CSource(text=source), [routine.function]).run("strict", theirs)
    for m, e in enumerate(FLOATS):
        assert_same(mine["f"][m], theirs["f"][m], f"{e}, seed {SEED}")
    for m, e in enumerate(INTS):
        assert np.array_equal(mine["g"][m], theirs["g"][m]), f"{e}, seed {SEED}"
    assert_same(mine["s"], theirs["s"], f"s, seed {SEED}")


def assert_same(x: NDArray[np.float32], y: NDArray[np.float32], what: str) -> None:
    differs = (x.view(np.int32) != y.view(np.int32)) & ~(np.isnan(x) & np.isnan(y))
    assert not differs.any(), f"{what}: {x[differs][:3]} for {y[differs][:3]}"


SUM = """
void f(int n, const float *restrict a, float *restrict s)
{
  float t = -0.0f;
  for (int i = 0; i < n; i++)
    t += a[i];
  *s = t;
}
"""


@pytest.mark.device
@pytest.mark.parametrize("n", [0, 1, 5000, 40013])
def test_another_order_keeps_the_sign_of_a_zero(n: int) -> None:
    """Sums of parts begin with -0.0: 0.0 is a term that the program does not have."""
    run = lx.loads(SUM)["f"].offload(fp="reassociate").compile()
    for terms, sign in ((np.full(n, -0.0, np.float32), True), (np.zeros(n, np.float32), n == 0)):
        s = np.full(1, 7, np.float32)
        run(n, terms if n else np.zeros(1, np.float32), s)
        assert s[0] == 0
        assert np.signbit(s[0]) == sign
