"""Arrays that take the place of others that nobody reads any more."""

from __future__ import annotations

import pytest
from conftest import Golden
from deriving import assert_step, c, refusal

PARAMS = "int n, int a[8], int out[8]"
FILL = "for (int k = 0; k < 8; k++) x[k] = a[k];"
DRAIN = "for (int k = 0; k < 8; k++) out[k] = y[k];"


def middle(loop: str, x: str = "int x[8];", y: str = "int y[8];", after: str = "") -> str:
    return c(f"{x} {y} {FILL} {loop} {DRAIN} {after}", PARAMS)


def over(body: str, first: int = 0, last: int = 8) -> str:
    return f"for (int k = {first}; k < {last}; k++) {{ {body} }}"


LISTINGS = {
    "in-one-iteration": middle(over("y[k] = x[k] + 1;")),
    "running": middle("int s = 0; " + over("s += x[k]; y[k] = s;")),
    "in-chunks": middle(
        "for (int kk = 0; kk < 8; kk += 4) for (int k = kk; k < kk + 4; k++) y[k] = 2 * x[k];"
    ),
}
REFUSALS = {
    "elements-of-others": middle(over("y[k] = x[7 - k];")),
    "elements-before": middle("y[0] = 0; " + over("y[k] = x[k - 1];", 1)),
    "read-after": middle(over("y[k] = x[k] + 1;"), after="out[0] += x[0];"),
    "read-behind": middle(over("y[k] = k; out[k] = x[k];")),
    "set-before": c(f"int x[8]; int y[8]; {FILL} {over('y[k] = k;')} "
                    f"{over('y[k] += x[k];')} {DRAIN}", PARAMS),
    "two-types": middle(over("y[k] = x[k] + 1;"), x="short x[8];"),
    "two-sizes": middle(over("y[k] = x[k] + 1;"), x="int x[9];"),
    "unknown": c("int x[8]; x[0] = a[0]; out[0] = x[0];", PARAMS),
}  # fmt: skip


@pytest.mark.parametrize("name", LISTINGS)
def test_listing(name: str, golden: Golden) -> None:
    golden.check(assert_step(LISTINGS[name], "reuse-storage x y", sizes=(0, 1)))


@pytest.mark.parametrize("name", REFUSALS)
def test_refusal(name: str, golden: Golden) -> None:
    golden.check(refusal(REFUSALS[name], "reuse-storage x y"))
