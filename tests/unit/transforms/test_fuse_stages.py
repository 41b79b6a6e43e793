"""FuseStages: nests that follow one another in one kernel, in overlapped tiles."""

from __future__ import annotations

import pytest
from c_texts import COPY
from conftest import Golden
from deriving import assert_step, c, refusal

FIRST = (
    "for (int y = 0; y < h; y++) for (int x = 0; x < w + 2; x++) t[y][x] = a[y][x] + a[y + 1][x];"
)
SECOND = "for (int i = 0; i < h; i++) for (int j = 0; j < w; j++) b[i][j] = t[i][j] + t[i][j + 2];"
ARGUMENTS = "int h, int w, const float a[h + 1][w + 2], float b[h][w]"
LOCAL = c(f"float t[h][w + 2]; {FIRST} {SECOND}", ARGUMENTS)
SEEN = c(f"{FIRST} {SECOND}", f"{ARGUMENTS}, float t[h][w + 2]")
LATER = c(f"float t[h][w + 2]; {FIRST} {SECOND} if (h > 0 && w > 0) b[0][0] += t[0][0];", ARGUMENTS)
OVER = c(
    "for (int y = 1; y < h; y++) for (int x = 0; x < w; x++) b[y][x] = a[y - 1][x];"
    "for (int i = 1; i < h; i++) for (int j = 0; j < w; j++) a[i][j] = b[i][j];",
    "int h, int w, float a[h][w], float b[h][w]",
)
TURNED = c(
    "float t[h][h];"
    "for (int y = 0; y < h; y++) for (int x = 0; x < h; x++) t[y][x] = a[y][x];"
    "for (int i = 0; i < h; i++) for (int j = 0; j < h; j++) b[i][j] = t[j][i];",
    "int h, const float a[h][h], float b[h][h]",
)
APART = c(f"float t[h][w + 2]; {FIRST} b[0][0] = 1; {SECOND}", ARGUMENTS)
EMPTY = c(f"float t[h][w + 2]; {FIRST} for (int i = 0; i < h; i++) ; {SECOND}", ARGUMENTS)
LISTINGS = {
    "local": (LOCAL, "fuse-stages y,i 4 16"),
    "seen-by-the-caller": (SEEN, "fuse-stages y,i 4 16"),
    "two-elements": (LOCAL, "fuse-stages y,i 4 16 2"),
    "one-stage": (LOCAL, "fuse-stages i 4 16"),
    "empty": (EMPTY, "fuse-stages y,i#1,i#2 4 16"),
    "enough-tiles": (LOCAL, "fuse-stages y,i 4 16 1 10"),
}
REFUSALS = {
    "written-over": (OVER, "fuse-stages y,i 4 16"),
    "turned": (TURNED, "fuse-stages y,i 4 16"),
    "not-neighbours": (APART, "fuse-stages y,i 4 16"),
    "backwards": (LOCAL, "fuse-stages i,y 4 16"),
    "one-dimension": (COPY, "fuse-stages i 4 16"),
    "no-size": (LOCAL, "fuse-stages y,i 4 x"),
    "halo": (LOCAL, "fuse-stages y,i 4 2"),
}


@pytest.mark.parametrize("case", LISTINGS)
def test_listing(case: str, golden: Golden) -> None:
    golden.check(assert_step(*LISTINGS[case]))


@pytest.mark.parametrize("case", REFUSALS)
def test_refusal(case: str, golden: Golden) -> None:
    golden.check(refusal(*REFUSALS[case]))


def test_what_others_read_later_is_stored(golden: Golden) -> None:
    golden.check(assert_step(LATER, "fuse-stages y,i 4 16"))
