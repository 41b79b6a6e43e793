"""FuseStages: nests that follow one another in one kernel, in overlapped tiles."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from c_texts import COPY
from conftest import Golden
from deriving import assert_step, c, refusal

from loopxform.frontend import parse_file
from loopxform.ir.printer import listing
from loopxform.transforms import STEPS, Derivation
from loopxform.transforms.base import from_text
from loopxform.verify.check_run import arguments
from loopxform.verify.interp import Program

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
PLANES = "int t, int h, int w, float a[2][h][w]"
INNER = "for (int y = 1; y < h; y++) for (int x = 1; x < w; x++)"
NEXT = f"{INNER} a[(t + 1) % 2][y][x] = a[t % 2][y - 1][x] + a[t % 2][y][x - 1];"
LOOKED_UP = (
    "for (int y = 0; y < h; y++) for (int x = 0; x < w; x++) t[y][x] = a[y][x] + a[y + 1][x];"
    "for (int i = 0; i < h; i++) for (int j = 0; j < w; j++) b[i][j] = s[INDEX];"
)
TABLE = "int h, int w, const int s[8], const int a[h + 1][w], int b[h][w]"


def looked_up(index: str) -> str:
    return c(f"int t[h][w]; {LOOKED_UP.replace('INDEX', index)}", TABLE)


LISTINGS = {
    "table-of-all": (
        looked_up("t[i][j] < 0 ? 0 : t[i][j] > 7 ? 7 : t[i][j]"),
        "fuse-stages y,i 4 16",
    ),
    "planes-of-the-host": (c(f"if (t >= 0) {{ {NEXT} }}", PLANES), "fuse-stages y 4 16"),
    "local": (LOCAL, "fuse-stages y,i 4 16"),
    "seen-by-the-caller": (SEEN, "fuse-stages y,i 4 16"),
    "two-elements": (LOCAL, "fuse-stages y,i 4 16 2"),
    "one-stage": (LOCAL, "fuse-stages i 4 16"),
    "empty": (EMPTY, "fuse-stages y,i#1,i#2 4 16"),
    "enough-tiles": (LOCAL, "fuse-stages y,i 4 16 1 10"),
}
REFUSALS = {
    "planes-at-no-distance": (
        c(
            "for (int y = 0; y < h; y++) for (int x = 0; x < w; x++) a[k][y][x] = 2 * a[l][y][x];",
            "int k, int l, int h, int w, float a[4][h][w]",
        ),
        "fuse-stages y 4 16",
    ),
    "planes-of-several-nests": (
        c(
            f"if (t >= 0) {{ {NEXT} {INNER.replace('y', 'i')} b[i][x] = a[t % 2][i][x]; }}",
            f"{PLANES}, float b[h][w]",
        ),
        "fuse-stages y,i 4 16",
    ),
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


def test_sums_in_another_order(golden: Golden) -> None:
    """Of whole numbers that a float holds, they are the same."""
    sums = " + ".join(f"{n + 2} * a[y + {n}][x + {n % 2}]" for n in range(4))
    text = c(
        f"for (int y = 0; y < h; y++) for (int x = 0; x < w; x++) b[y][x] = {sums};",
        "int h, int w, const float a[h + 3][w + 1], float b[h][w]",
    )
    derivation = Derivation(parse_file("f.c", text=text).unit.functions[0])
    fn = derivation.then(from_text(STEPS, "fuse-stages y 5 16 reassociate")).function
    given = arguments(fn, {"h": 13, "w": 40}, 3)
    given |= {k: np.floor(8 * v) for k, v in given.items() if isinstance(v, np.ndarray)}
    wanted, found = copy.deepcopy(given), copy.deepcopy(given)
    Program(derivation.function).run(wanted)
    Program(fn).run(found, order_seed=1)
    assert all(np.array_equal(v, found[k]) for k, v in wanted.items())
    golden.check(listing(fn))


def test_what_others_read_later_is_stored(golden: Golden) -> None:
    golden.check(assert_step(LATER, "fuse-stages y,i 4 16"))
