"""Chunks that pass running values on in an array, one after the other."""

from __future__ import annotations

import pytest
from conftest import Golden
from deriving import assert_step, c, refusal

PARAMS = "int n, int a[n], int out[n], int b[n]"
REAL = "int n, float a[n], float out[n]"
COUNTED = "int n, int a[n], int out[n], int s[1]"


def loop(body: str, params: str = PARAMS, before: str = "int s = 0;", after: str = "") -> str:
    return c(f"{before} for (int k = 0; k < n; k++) {{ {body} }} {after}", params)


SUM = loop("s += a[k]; out[k] = s;")
LISTINGS = {
    "sum": SUM,
    "real": loop("s += a[k]; out[k] = s;", REAL, "float s = 0.5f;"),
    "from-data": loop("s += a[k]; out[k] = s;", "int n, int b, int a[n], int out[n]", "int s = b;"),
    "read-afterwards": loop("if (a[k] > 2) out[i++] = a[k];", COUNTED, "int i = 0;", "s[0] = i;"),
    "several": loop(
        "s += a[k]; if (m < a[k]) m = a[k]; out[k] = s - m;", before="int s = 0, m = 0;"
    ),
    "linear": loop("s = a[k] * s + b[k]; out[k] = s;", before="int s = 1;"),
    "in-another-loop": c(
        "int s = 0; for (int t = 0; t < n; t++) for (int k = 0; k < n; k++) "
        "{ s += a[k]; out[k] = s; }",
        PARAMS,
    ),
}
REFUSALS = {
    "decides": loop("if (s < 9) s += a[k]; out[k] = s;"),
    "another-dependence": loop("s += b[k]; out[k] = s + (k > 0 ? out[k - 1] : 0);"),
    "what-is-counted": loop("s += b[k]; b[k + 1] = a[k];", "int n, int a[n], int b[n + 1]"),
    "elements-apart": loop("if (a[k]) { out[s] = k; if (b[k]) s++; s++; }"),
    "truth": loop("s = s | (a[k] > 2); out[k] = s;", before="_Bool s = 0;"),
    "nothing-runs": loop("out[k] = a[k];", before=""),
}


@pytest.mark.parametrize("name", LISTINGS)
def test_listing(name: str, golden: Golden) -> None:
    golden.check(assert_step(LISTINGS[name], "chain-chunks k 2", sizes=(0, 1, 2, 5, 8)))


@pytest.mark.parametrize("name", REFUSALS)
def test_refusal(name: str, golden: Golden) -> None:
    golden.check(refusal(REFUSALS[name], "chain-chunks k 4"))
