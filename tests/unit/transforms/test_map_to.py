"""MapTo: foralls become groups and threads."""

from __future__ import annotations

import pytest
from c_texts import MAPPED, MM, NORMAL, PARALLEL, TRIANGULAR
from conftest import Golden
from deriving import assert_step, c, refusal

LISTINGS = {
    "groups": (
        MM,
        *NORMAL,
        "map iii group.y",
        "map jjj group.x",
    ),
    "threads": (
        MM,
        *MAPPED,
    ),
}

IN_TIME = c(
    "for (int t = 0; t < n; t++) { a[t] = 0; for (int i = t; i < n; i++) b[i] = b[i] + t; }",
)
LISTINGS["in-a-loop-of-the-host"] = (IN_TIME, "parallelise i", "stripmine i 4", "map ii group.x")

REFUSALS = {
    "not-parallel": (
        MM,
        "map i group.x",
    ),
    "not-in-groups": (
        MM,
        *NORMAL,
        "map ii* thread.y",
    ),
    "twice": (
        MM,
        *MAPPED,
        "map iii group.z",
    ),
    "same-level": (
        MM,
        *PARALLEL,
        "stripmine i 2",
        "stripmine j 2",
        "interchange i jj",
        "map ii group.y",
        "map jj group.x",
        "map i thread.x",
        "map j thread.x",
    ),
    "inner-first": (
        MM,
        *PARALLEL,
        "map j group.x",
    ),
    "no-fixed-trip-count": (
        MM,
        *PARALLEL,
        "map i group.x",
        "map j thread.x",
    ),
    "bad-level": (
        MM,
        *PARALLEL,
        "map i warp.x",
    ),
    "bound-varies": (
        TRIANGULAR,
        "parallelise i",
        "parallelise j",
        "map i group.y",
        "map j group.x",
    ),
    "bound-computed": (
        c("for (int i = 0; i < k[0]; i++) b[i] = 1;", "float *b, int k[1]"),
        "parallelise i",
        "map i group.x",
    ),
    "beside-statements": (
        c(
            "for (int i = 0; i < n; i++) { b[i] = 1; for (int j = 0; j < n; j++) A[i][j] = 1; }",
            "int n, float A[n][n], float b[n]",
        ),
        "parallelise i",
        "parallelise j",
        "map i group.y",
        "map j group.x",
    ),
    "around-a-collective-copy": (
        c(
            "for (int i = 0; i < n; i++) for (int j = 0; j < 3; j++) b[i] += a[i + j];",
            "int n, float a[n + 2], float b[n]",
        ),
        "parallelise i",
        "stripmine i Ty",
        "map ii group.x",
        "copy-to-local a i",
        "map i thread.x",
    ),
    "ambiguous": (
        MM,
        *NORMAL,
        "map ii group.x",
    ),
    "unknown": (
        MM,
        "map x group.x",
    ),
}


@pytest.mark.parametrize("case", LISTINGS)
def test_listing(case: str, golden: Golden) -> None:
    text, *steps = LISTINGS[case]
    golden.check(assert_step(text, *steps))


@pytest.mark.parametrize("case", REFUSALS)
def test_refusal(case: str, golden: Golden) -> None:
    text, *steps = REFUSALS[case]
    golden.check(refusal(text, *steps))
