"""BoundTrips: loops that end after a number of iterations which they do not exceed."""

from __future__ import annotations

import pytest
from c_texts import DOWN
from conftest import Golden
from deriving import assert_step, c, refusal

COPY = c("for (int i = 0; i < n; i++) b[i] = a[i];")
THIRDS = c(
    "for (int i = 0; i < n; i += 3) b[i] = a[i];",
    "int n, const float a[restrict n], float b[restrict n]",
)
SHORT = c("for (int i = 2; i < 8; i++) b[i] = i;", "float b[9]")

LISTINGS = {
    "assumed": (COPY, "assume n<=40", "bound-trips i 40"),
    "of-work-items": (
        *(THIRDS, "parallelise i", "assume n<=48", "round-robin i 4 t", "bound-trips i 4"),
    ),
    "normalised": (
        *(THIRDS, "parallelise i", "assume n<=48", "round-robin i 4 t", "bound-trips i 4"),
        "normalise i",
    ),
    "number": (SHORT, "bound-trips i 6"),
    "more": (SHORT, "bound-trips i 7"),
}
REFUSALS = {
    "not-known": (COPY, "bound-trips i 40"),
    "too-few": (COPY, "assume n<=41", "bound-trips i 40"),
    "too-few-by-one": (SHORT, "bound-trips i 5"),
    "past-the-largest": (
        c("for (int i = m; i < n; i++) b[0] += i;", "int n, int m, float b[1]"),
        *("assume m>=2147483600", "bound-trips i 64"),
    ),
    "down": (DOWN, "bound-trips i 40"),
    "no-size": (COPY, "bound-trips i many"),
    "mapped": (COPY, "assume n<=40", "parallelise i", "map i group.x", "bound-trips i 40"),
}


@pytest.mark.parametrize("case", LISTINGS)
def test_listing(case: str, golden: Golden) -> None:
    golden.check(assert_step(*LISTINGS[case]))


@pytest.mark.parametrize("case", REFUSALS)
def test_refusal(case: str, golden: Golden) -> None:
    golden.check(refusal(*REFUSALS[case]))
