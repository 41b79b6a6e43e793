"""JoinKernels: what one work-item does as part of another kernel."""

from __future__ import annotations

import pytest
from conftest import Golden
from deriving import assert_step, c, refusal

ROOM = "int n, float s[4], float q[4], float a[n], float b[n]"
ONE = ("parallelise o", "stripmine o 1 og", "map og group.x", "map o thread.x")
OTHER = ("parallelise p", "stripmine p 1 pg", "map pg group.x", "map p thread.x")
GROUP = ("parallelise i", "stripmine i 4 ii", "map ii group.x", "map i thread.x")
FEW = "for (int i = 0; i < 4; i++) q[i] = 2 * q[i] + s[0];"
MANY = "for (int i = 0; i < n; i++) a[i] = 2 * a[i];"
FIRST = "for (int o = 0; o < 1; o++) s[0] = s[1] + 1;"
LAST = "for (int p = 0; p < 1; p++) s[2] = s[0] * 3;"
BETWEEN = "for (int j = 0; j < n; j++) b[j] = {0};"

LISTINGS = {
    "in order": (c(FIRST + FEW, ROOM), *ONE, *GROUP, "join-kernels og ii"),
    "behind": (c(FEW + LAST, ROOM), *GROUP, *OTHER, "join-kernels ii pg"),
    "passes others": (
        c(FIRST + BETWEEN.format("1") + FEW, ROOM),
        *ONE,
        *GROUP,
        "join-kernels og ii",
    ),
    "two of one work-item": (c(FIRST + LAST, ROOM), *ONE, *OTHER, "join-kernels og pg"),
    "in the first group": (
        c(
            "for (int t = 1; t < n; t++) { for (int i = 0; i < t; i++) a[i] = 2 * a[i];"
            " for (int o = 0; o < 1; o++) a[t] = s[0]; }",
            ROOM,
        ),
        *ONE,
        *GROUP,
        "join-kernels ii og",
    ),
}
REFUSALS = {
    "no groups": (c(FIRST + MANY, ROOM), *ONE, *GROUP, "join-kernels og ii"),
    "between": (
        c(FIRST + BETWEEN.format("s[0]") + FEW, ROOM), *ONE, *GROUP, "join-kernels og ii",
    ),
    "waits": (
        c("for (int t = 1; t < n; t++) { for (int o = 0; o < 1; o++) s[0] = t;"
          " for (int i = 0; i < t; i++) a[i] = s[0]; }", ROOM),
        *ONE, *GROUP, "join-kernels og ii",
    ),
    "the other way round": (c(FIRST + FEW, ROOM), *ONE, *GROUP, "join-kernels ii og"),
    "no kernel": (c(FIRST + FEW, ROOM), *GROUP, "join-kernels o ii"),
    "two of many": (
        c(FEW + "for (int j = 0; j < 4; j++) s[j] = 1;", ROOM),
        *GROUP, "parallelise j", "map j group.x", "join-kernels ii j",
    ),
    "unknown": (c(FIRST + FEW, ROOM), *ONE, "join-kernels og z"),
}  # fmt: skip


@pytest.mark.parametrize("case", LISTINGS)
def test_listing(case: str, golden: Golden) -> None:
    text, *steps = LISTINGS[case]
    golden.check(assert_step(text, *steps))


@pytest.mark.parametrize("case", REFUSALS)
def test_refusal(case: str, golden: Golden) -> None:
    text, *steps = REFUSALS[case]
    golden.check(refusal(text, *steps))
